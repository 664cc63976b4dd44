import type { IncomingHttpHeaders } from 'node:http';
import { Router, type Request, type RequestHandler, type Response } from 'express';
import { sameText } from '../accounts/credentials.js';
import { masked, sign, type Sealer } from '../engine/engine.js';
import type { CompleteConfig } from '../config/config.js';
import { type BodyBytes, readBytes } from '../http/request/body.js';
import { markAnswered, whileReading } from '../http/request/watch.js';
import type { Route } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
import { ApiError } from '../platform/errors.js';
import { newId } from '../platform/ids.js';
import { readSecrets } from '../webhooks/store.js';
import {
  createInboxAddresses,
  inboxPath,
  type InboxAddresses,
  createBoxes,
  type Answer,
  type Boxes,
} from './boxes.js';
import { inboxRoutes } from './routes.js';

export interface Inbox {
  routes: Route[];
  receiver: RequestHandler;
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

/** How much longer than the sender a request without a response waits, so that the sender gives up first. */
const holdMarginMs = 1_000;

/** An address of the service's own for each shipper, for development, which shows what arrives and fails on demand. */
export function createInbox(deps: InboxDependencies): Inbox {
  const { db, sealer, host, port, config } = deps;
  const baseUrl = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const addresses = createInboxAddresses(baseUrl, config.TOKEN_SECRET);
  const boxes = createBoxes();
  const { handler, endHolds } = createInboxReceiver({
    addresses,
    boxes,
    secretsOf: async (shipperId, path) =>
      (await readSecrets(db, shipperId, path)).map(({ webhookId, secret }) =>
        sealer.openSecret(webhookId, secret),
      ),
    bodyBytes: deps.bodyBytes,
    maxHoldMs: config.DELIVERY_TIMEOUT + holdMarginMs,
  });
  return { routes: inboxRoutes({ addresses, boxes }), receiver: handler, endHolds };
}

export interface ReceivingDependencies {
  addresses: InboxAddresses;
  boxes: Boxes;
  secretsOf(shipperId: string, path: string): Promise<string[]>;
  bodyBytes: BodyBytes;
  /** Longer than an attempt may take: a time-out is ended by the sender, and by this if it is not. */
  maxHoldMs: number;
}

const maxBodyBytes = 64 * 1024;
/** Requests that wait for their time-out; further ones are answered 503. */
const maxHolds = 20;

/** Takes notifications at the addresses of inboxes. Every other request goes on to the next handler. */
export function createInboxReceiver(deps: ReceivingDependencies) {
  const { addresses, boxes } = deps;
  const held = new Set<Response>();
  const hold = (response: Response) => {
    if (response.destroyed) return; // it has been closed: nothing would end the wait
    held.add(response);
    const timer = setTimeout(() => response.destroy(), deps.maxHoldMs);
    response.once('close', () => {
      clearTimeout(timer);
      held.delete(response);
    });
  };
  const answer = (answered: Answer, request: Request, response: Response) => {
    if (answered === 'RESET') request.socket.resetAndDestroy();
    else if (answered === 'TIMEOUT') hold(response);
    else response.status(Number(answered)).json({ inbox: answered });
    markAnswered(response);
  };
  const router = Router({ caseSensitive: true });
  router.post(`${inboxPath}:token`, async (request: Request<{ token: string }>, response, next) => {
    const shipperId = addresses.shipperOf(request.params.token);
    if (shipperId === null) return next();
    response.locals.slowByDesign = true;
    const { headers } = request;
    const body = await whileReading(response, () => readAtMost(deps.bodyBytes, shipperId, request, response));
    const secrets = await deps.secretsOf(shipperId, request.path);
    const receivedAt = new Date();
    const problem = problemOf({ headers, body }, secrets, receivedAt.getTime());
    const wanted = boxes.nextAnswer(shipperId);
    const answered = wanted === 'TIMEOUT' && held.size >= maxHolds ? '503' : wanted;
    boxes.add(shipperId, {
      itemId: newId(receivedAt.getTime()),
      receivedAt,
      headers: shown(headers),
      body,
      problem,
      answered,
    });
    answer(answered, request, response);
  });
  return {
    handler: router,
    endHolds: () => {
      for (const response of held) response.destroy();
    },
  };
}

async function readAtMost(
  bodyBytes: BodyBytes,
  shipperId: string,
  request: Request<{ token: string }>,
  response: Response,
): Promise<string> {
  const count = bodyBytes(shipperId, response);
  let length = 0;
  const bytes = await readBytes(request, (more) => {
    count(more);
    length += more;
    if (length > maxBodyBytes)
      throw new ApiError(413, 'PAYLOAD_TOO_LARGE', `The inbox takes at most ${maxBodyBytes} bytes.`);
  });
  return bytes.toString();
}

const known =
  /^(webhook-|parcelhook-)|^(accept|connection|content-type|content-length|host|traceparent|user-agent)$/;

/** A webhook's own headers may be secrets, which no response shows. */
const shown = (headers: Request['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, known.test(name) ? String(value) : masked]),
  );

interface Arrival {
  headers: IncomingHttpHeaders;
  body: string;
}

/** Standard Webhooks leaves it to the receiver; the client has the same default. */
const toleranceSeconds = 300;

/**
 * Null, or a sentence that says why the request is not a notification signed with one of these secrets. As `verify` of the
 * client, which the service does not import, but with `sign` of the service.
 */
export function problemOf({ headers, body }: Arrival, secrets: string[], nowMs: number): string | null {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const [id = '', timestamp = '', signatures = ''] = names.map((name) => headers[name]?.toString());
  const missing = names.find((name) => !headers[name]);
  if (missing) return `The header ${missing} is missing.`;
  if (secrets.length === 0) return 'No webhook of yours points to this inbox, so there is no secret.';
  if (!/^\d{1,12}$/.test(timestamp)) return 'webhook-timestamp is not a number of seconds.';
  const secondsOff = Math.abs(Math.floor(nowMs / 1_000) - Number(timestamp));
  if (secondsOff > toleranceSeconds) return `webhook-timestamp is ${secondsOff} s away from the clock.`;
  const expected = sign(secrets, id, Number(timestamp), body).split(' ');
  const isSigned = signatures.split(' ').some((given) => expected.some((one) => sameText(one, given)));
  return isSigned ? null : 'No signature matches: it was made with another secret, or the body was changed.';
}
