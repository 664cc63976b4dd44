import type { RequestHandler } from 'express';
import type { CompleteConfig } from '../config/config.js';
import type { BodyBytes } from '../http/request/body-bytes.js';
import type { Route } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
import type { Sealer } from '../engine/send/sealing.js';
import { readSecrets } from '../webhooks/store.js';
import { createInboxAddresses } from './addresses.js';
import { createBoxes } from './boxes.js';
import { createInboxReceiver } from './receive.js';
import { inboxRoutes } from './routes.js';

export interface Inbox {
  routes: Route[];
  receiver: RequestHandler;
  /** Breaks off what waits for its time-out. */
  endHolds(): void;
}

export interface InboxDependencies {
  db: Database;
  sealer: Sealer;
  /** Where this process listens: no other can show what it received. */
  host: string;
  port: number;
  config: Pick<CompleteConfig, 'TOKEN_SECRET' | 'DELIVERY_TIMEOUT'>;
  bodyBytes: BodyBytes;
}

/** The sender gives up first. */
const holdMarginMs = 1_000;

/** For development: an address of the service's own for each shipper, which shows what arrives and fails on demand. */
export function createInbox(deps: InboxDependencies): Inbox {
  const { db, sealer, host, port, config } = deps;
  const baseUrl = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const addresses = createInboxAddresses(baseUrl, config.TOKEN_SECRET);
  const boxes = createBoxes();
  const { handler, endHolds } = createInboxReceiver({
    addresses,
    boxes,
    secretsOf: async (shipperId, path) =>
      (await readSecrets(db, shipperId, path)).flatMap(({ webhookId, secret, previousSecret }) =>
        [secret, ...(previousSecret === null ? [] : [previousSecret])].map((stored) =>
          sealer.openSecret(webhookId, stored),
        ),
      ),
    bodyBytes: deps.bodyBytes,
    maxHoldMs: config.DELIVERY_TIMEOUT + holdMarginMs,
  });
  return { routes: inboxRoutes({ addresses, boxes }), receiver: handler, endHolds };
}
