import { randomBytes, randomUUID } from 'node:crypto';
import { describeError } from '../../platform/errors.js';
import type { Database } from '../../platform/database/postgres.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import { childTraceparent } from '../../platform/telemetry/tracing.js';
import { isActive, ms } from '../outbox/sql.js';
import { destinationOf, type Pace, type Paces } from '../schedule/pace.js';
import type { Paced } from '../schedule/pacing.js';
import { parseDetail, type AttemptOutcome } from '../send/messages.js';
import type { Targets } from '../send/sealing.js';
import type { Sending } from '../send/threads.js';
import type { Starts } from './leases.js';

export interface AgreementOptions {
  leaseDb: Database;
  targets: Targets;
  starts: Pick<Starts, 'untilMs'>;
  sending: Pick<Sending, 'send'>;
  logger: Logger;
}

const lookEveryMs = 10_000;
const askEveryMs = 600_000;
const validForMs = 30 * 86_400_000;
/** Their lanes are looked at every ten seconds (`Scheduler.slowed`), and so are hosts. */
const pacedForMs = 3 * lookEveryMs;

/**
 * Asks receivers whose hosts are sent to as fast as they may be whether they want more: a POST with a random
 * `webhook-challenge`, signed like a notification. A 2xx with the same header, or with its value as the whole body,
 * agrees for thirty days, for that host and port, to webhooks of any shipper. Returns a function to call now and
 * then with the paces that lanes wait for; it never rejects.
 */
export function createAgreements(options: AgreementOptions): (paced: Paced[]) => void {
  const { leaseDb: db, logger } = options;

  const look = async (paced: Paced): Promise<void> => {
    const { pace, webhookIds } = paced;
    const { agreedForMs, asks } = await findAgreement(db, pace.destination);
    pace.agreedUntilMs = performance.now() + agreedForMs;
    if (agreedForMs > 0) return;
    await markPaced(db, webhookIds);
    if (!asks) return;
    pace.take(performance.now());
    const hasAgreed = await ask(paced);
    logger.info({ hasAgreed }, 'receiver asked whether it wants more notifications than DESTINATION_RATE');
    if (!hasAgreed) return;
    await saveAgreement(db, pace.destination);
    pace.agreedUntilMs = performance.now() + validForMs;
  };

  /** Like an attempt, it does not reach a webhook that was stopped meanwhile, nor another host if its address changed. */
  const ask = async ({ pace, webhookIds }: Paced): Promise<boolean> => {
    const find = async (among: string[]) => {
      const untilMs = options.starts.untilMs(performance.now());
      return (await findActive(db, among)).map((webhook) => ({ ...webhook, untilMs }));
    };
    const at = async (webhook: { webhookId: string; revision: number; untilMs: number }) => ({
      ...webhook,
      target: (await options.targets.of(webhook)).open(),
    });
    const found = await Promise.all((await find(webhookIds)).map((webhook) => at(webhook).catch(() => null)));
    const asked = found.find((one) => one && destinationOf(one.target.url) === pace.destination);
    if (!asked) return false;
    const { webhookId, revision, target } = asked;
    const challenge = randomBytes(32).toString('base64url');
    const outcome = await options.sending.send({
      claim: {
        webhookId: `challenge of ${webhookId}`,
        shipperId: webhookId,
        eventId: randomUUID(),
        body: '{}',
        sequence: 0,
        number: 1,
        erased: false,
      },
      target: { ...target, headers: [...target.headers, challengeHeader, challenge] },
      traceparent: childTraceparent(randomBytes(24)),
      isTraced: false,
      keepsDetail: true,
      startUntilMs: asked.untilMs,
      mayStart: async () => {
        const [now] = await find([webhookId]).catch(() => []);
        return now?.revision === revision ? now.untilMs : null;
      },
      isProved: false,
    });
    return isEchoed(challenge, outcome);
  };

  return (paced) => {
    const nowMs = performance.now();
    for (const one of paced) {
      if (nowMs < one.pace.lookAtMs) continue;
      one.pace.lookAtMs = nowMs + lookEveryMs;
      look(one).catch((error: unknown) =>
        logger.warn({ error: describeError(error) }, 'agreement of a receiver not found out; retrying'),
      );
    }
  };
}

const challengeHeader = 'webhook-challenge';
/** The webhooks that are looked at: some may name another host since their lanes began to wait. */
const candidates = 10;

const isEchoed = (
  challenge: string,
  { ok, responseBody, detail }: Pick<AttemptOutcome, 'ok' | 'responseBody' | 'detail'>,
): boolean =>
  ok &&
  (responseBody?.trim() === challenge ||
    parseDetail(detail).responseHeaders?.[challengeHeader] === challenge);

async function findActive(
  db: Database,
  webhookIds: string[],
): Promise<{ webhookId: string; revision: number }[]> {
  return db.query(
    'find-active',
    `select webhook_id as "webhookId", revision from webhooks
      where webhook_id = any($1::uuid[]) and ${isActive('webhooks')} limit $2`,
    [webhookIds, candidates],
  );
}

/** `asks`: this process asks the receiver, which none has done lately. */
async function findAgreement(
  db: Database,
  destination: Pace['destination'],
): Promise<{ agreedForMs: number; asks: boolean }> {
  const [row] = await db.query<{ agreedForMs: number; asks: boolean }>(
    'find-agreement',
    `with before as materialized (
       select extract(epoch from agreed_at + ${ms('$2')} - now())::float8 * 1000 as left_ms
         from destinations where destination = $1 and agreed_at > now() - ${ms('$2')}
     ), asked as (
       insert into destinations (destination, asked_at) values ($1, now())
       on conflict (destination) do update set asked_at = now()
         where destinations.asked_at < now() - ${ms('$3')} and not exists (select from before)
       returning 1
     )
     select coalesce((select left_ms from before), 0) as "agreedForMs", exists (select from asked) as asks`,
    [destination, validForMs, askEveryMs],
  );
  return row!;
}

const saveAgreement = (db: Database, destination: string): Promise<unknown> =>
  db.query('save-agreement', 'update destinations set agreed_at = now() where destination = $1', [
    destination,
  ]);

/** Until then their due deliveries are `HELD` by `RATE`, and no wait of this service (`observe/owed.ts`). */
export const markPaced = (db: Database, webhookIds: string[]): Promise<unknown> =>
  db.query(
    'mark-paced',
    `update webhooks set paced_until = now() + ${ms('$2')}
      where webhook_id = any(array(select webhook_id from webhooks where webhook_id = any($1::uuid[])
                                    order by webhook_id for no key update skip locked))`,
    [webhookIds, pacedForMs],
  );

const seenForMs = 30_000;

/** Tells the others that this process sends, and shares the pace of each host among all. Call it every ten seconds. */
export function createSharing(db: Database, paces: Paces): () => Promise<void> {
  const senderId = randomUUID();
  return async () => {
    const [row] = await db.query<{ others: number }>(
      'share-paces',
      `with mine as (
         insert into senders (sender_id, seen_at) values ($1, now())
         on conflict (sender_id) do update set seen_at = now()
       ), gone as (
         delete from senders where seen_at < now() - 2 * ${ms('$2')}
       )
       select count(*)::int as others from senders where sender_id <> $1 and seen_at > now() - ${ms('$2')}`,
      [senderId, seenForMs],
    );
    paces.share(1 + row!.others);
  };
}

export const deleteOldDestinations = (db: Database): Promise<unknown> =>
  db.query('delete-old-destinations', `delete from destinations where asked_at < now() - 2 * ${ms('$1')}`, [
    validForMs,
  ]);
