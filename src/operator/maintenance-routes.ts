import * as z from 'zod';
import { actorOf, audit, type Actor } from '../accounts/audit/audit.js';
import { replayProgress } from '../deliveries/replay/answers.js';
import { findFacts } from '../deliveries/outbox/explain.js';
import type { Times } from '../deliveries/times.js';
import { renewFeed } from '../events/feed/look-store.js';
import { replayView, type Replay } from '../deliveries/replay/progress-store.js';
import { isoOffset } from '../http/envelope.js';
import { idInPath } from '../http/request/fields.js';
import { isUuid } from '../http/request/paging.js';
import { route, type Route } from '../http/route.js';
import { notFound } from '../platform/errors.js';
import type { Database } from '../platform/database/postgres.js';
import { explanation, feedRenewed, resealed } from './answers.js';
import { explain } from './explanation.js';

export interface MaintenanceDependencies {
  db: Database;
  resealSecrets(): Promise<{ resealed: number; unreadable: number }>;
  /** Ends anybody's replay; null without it. */
  cancelReplay(actor: Actor, replayId: string): Promise<Replay | null>;
  times: Times;
  orderHoldMs: number;
}

/** What an operator does to a running deployment. */
export function maintenanceRoutes(deps: MaintenanceDependencies): Route[] {
  const { db, resealSecrets, cancelReplay } = deps;
  return [
    route({
      method: 'get',
      path: '/operator/v1/deliveries/:deliveryId/explanation',
      summary: 'Why a delivery is where it is',
      operationId: 'explainDelivery',
      tag: 'Operator',
      description:
        'What it waits for, who holds it and what happens next, as PostgreSQL has it. Ids, states and moments only.',
      answers: { 200: explanation },
      auth: 'operator',
      params: z.object({ deliveryId: idInPath('The delivery.') }),
      handle: async ({ params: { deliveryId } }) => {
        const facts = isUuid(deliveryId) ? await findFacts(db, deliveryId, deps) : null;
        if (!facts) throw notFound('This delivery');
        return { data: explain(facts, deps.times) };
      },
    }),
    route({
      method: 'post',
      path: '/operator/v1/replays/:replayId/cancel',
      summary: "Cancel anybody's replay",
      operationId: 'cancelReplayOfShipper',
      tag: 'Operator',
      description: 'As its owner may. One that is over stays as it is.',
      answers: { 200: replayProgress },
      auth: 'operator',
      params: z.object({ replayId: idInPath('The replay.') }),
      handle: async ({ caller, params: { replayId } }) => {
        const replay = isUuid(replayId) && (await cancelReplay(actorOf(caller), replayId));
        if (!replay) throw notFound('This replay');
        return { data: replayView(replay) };
      },
    }),
    route({
      method: 'post',
      path: '/operator/v1/secrets/rotate-key',
      summary: 'Seal all that is secret with the current key',
      operationId: 'rotateKey',
      tag: 'Operator',
      description: 'After `SECRETS_KEY` was changed and the one before set as `SECRETS_KEY_PREVIOUS`.',
      answers: { 200: resealed },
      auth: 'operator',
      handle: async ({ caller }) => {
        const result = await resealSecrets(); // in many transactions, each harmless to repeat
        await audit(db, actorOf(caller), { action: 'SECRETS_RESEALED' });
        return { data: result };
      },
    }),
    route({
      method: 'post',
      path: '/operator/v1/feed/renew',
      summary: 'Make all cursors of the feed void',
      operationId: 'renewFeed',
      tag: 'Operator',
      description:
        'For use after the database was put back in a way that the service cannot detect, such as a snapshot of its disk. It does detect a restored dump and a promoted standby. Readers of the feed get a 400 and begin again.',
      answers: { 200: feedRenewed },
      auth: 'operator',
      handle: async ({ caller }) => {
        await db.transaction((tx) => renewFeed(tx, actorOf(caller), 'ASKED'));
        return { data: { renewedAt: isoOffset(new Date()) } };
      },
    }),
  ];
}
