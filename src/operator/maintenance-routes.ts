import { z } from 'zod';
import { actorOf, audit, audited } from '../accounts/audit/audit.js';
import { cancelReplay, findReplay } from '../deliveries/replay/store.js';
import { idInPath } from '../http/request/fields.js';
import { isUuid } from '../http/request/paging.js';
import { route, type Route } from '../http/route.js';
import { conflict, notFound } from '../platform/errors.js';
import type { Database } from '../platform/database/postgres.js';
import { cancelledReplay, resealed } from './answers.js';

export interface MaintenanceDependencies {
  db: Database;
  resealSecrets(): Promise<{ resealed: number; unreadable: number }>;
}

/** What an operator does to a running deployment. */
export function maintenanceRoutes({ db, resealSecrets }: MaintenanceDependencies): Route[] {
  return [
    route({
      method: 'post',
      path: '/operator/v1/replays/:replayId/cancel',
      summary: 'Cancel a replay',
      operationId: 'cancelReplay',
      tag: 'Operator',
      description: 'What it has set going already goes on.',
      answers: { 200: cancelledReplay },
      errors: { 409: 'The replay is over.' },
      auth: 'operator',
      params: z.object({ replayId: idInPath('The replay.') }),
      handle: async ({ caller, params: { replayId } }) => {
        if (!isUuid(replayId)) throw notFound('This replay');
        const cancelled = await audited(
          db,
          actorOf(caller),
          (tx) => cancelReplay(tx, replayId),
          (replay) => replay && { action: 'REPLAY_CANCELLED', webhookId: replay.webhookId },
        );
        if (cancelled) return { data: cancelled };
        const replay = await findReplay(db, replayId);
        if (!replay) throw notFound('This replay');
        throw conflict(`This replay is over: ${replay.status}.`);
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
  ];
}
