import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { placeOrder, request, sampleOrder, type Account } from '../client.js';
import { operatorToken, type Service } from '../harness.js';
import { pause } from '../pause.js';
import type { Received } from '../receiver.js';

/** What a process of a deployment on some other database needs. */
export const deployment = (
  databaseUrl: string,
  env: Record<string, string> = {},
): Record<string, string> => ({
  DATABASE_URL: databaseUrl,
  QUEUE_PREFIX: `t_${randomBytes(6).toString('hex')}`,
  TOKEN_SECRET: randomBytes(32).toString('hex'),
  SECRETS_KEY: randomBytes(32).toString('hex'),
  OPERATOR_TOKEN: operatorToken,
  ALLOW_PRIVATE_TARGETS: 'true',
  ALLOW_HTTP_TARGETS: 'true',
  PORT: '0',
  WEBHOOK_CREATION_LIMIT: '0',
  BY_HAND_LIMIT: '0',
  ...env,
});

export interface Folder {
  path: string;
  remove(): void;
}

export function newFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'parcelhook-flow-'));
  return {
    path,
    remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }),
  };
}

/** Resolves with the milliseconds it took until `condition` held; rejects after `timeoutMs`. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 15_000,
): Promise<number> {
  const startedAt = Date.now();
  while (!(await condition())) {
    if (Date.now() - startedAt > timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await pause(startedAt);
  }
  return Date.now() - startedAt;
}

/** For tests that run beside others, but one after the other: too many starts at once would starve what is measured. */
export function inTurn(): (run: () => Promise<void>) => () => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  return (run) => () => {
    const turn = last.then(run);
    last = turn.catch(() => undefined);
    return turn;
  };
}

/** Places orders, a few at a time; their tracking ids. */
export async function placeOrders(account: Account, count: number): Promise<string[]> {
  const trackingIds: string[] = [];
  while (trackingIds.length < count) {
    const few = Array.from({ length: Math.min(10, count - trackingIds.length) }, () => placeOrder(account));
    trackingIds.push(...(await Promise.all(few)));
  }
  return trackingIds;
}

export interface Load {
  /** Tracking ids of the orders answered 201. */
  accepted: string[];
  /** One entry per order: what it was answered (0: the connection broke) and how long that took. */
  answers: { httpStatus: number; durationMs: number; retryAfter: string | null }[];
  stop(): Promise<void>;
}

/** Places an order every `everyMs` without waiting for the one before. `accounts` tells whom to ask next. */
export function startLoad(nextAccount: () => Account, everyMs: number): Load {
  const load: Load = { accepted: [], answers: [], stop };
  const open = new Set<Promise<void>>();
  const timer = setInterval(() => {
    const one = order().finally(() => open.delete(one));
    open.add(one);
  }, everyMs);
  return load;

  async function order(): Promise<void> {
    const startedAt = performance.now();
    const answer = await nextAccount()
      .call('/v1/shipments', { body: sampleOrder() })
      .catch(() => null);
    load.answers.push({
      httpStatus: answer?.httpStatus ?? 0,
      durationMs: performance.now() - startedAt,
      retryAfter: answer?.headers.get('retry-after') ?? null,
    });
    if (answer?.httpStatus === 201) load.accepted.push(answer.data.trackingId as string);
  }

  async function stop(): Promise<void> {
    clearInterval(timer);
    await Promise.all(open);
  }
}

/** The account as served by another process of the same deployment. */
export const accountAt = (account: Account, { url }: { url: string }): Account => ({
  ...account,
  call: (path, options = {}) =>
    request(`${url}${path}${path.includes('?') ? '&' : '?'}key=${account.accountKey}`, {
      ...options,
      headers: { authorization: `Bearer ${account.token}`, ...options.headers },
    }),
});

export const percentile = (values: number[], p: number): number =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * p) - 1)] ?? 0;

export const trackingIdOf = (request: Received): string => request.notification.tracking_id as string;

/** How many of these shipments the receiver has heard of. */
export function heardOf(received: Received[], trackingIds: string[]): number {
  const heard = new Set(received.map(trackingIdOf));
  return trackingIds.filter((id) => heard.has(id)).length;
}

/** Requests beyond the first of each notification. */
export const repeated = (received: Received[]): number =>
  received.length - new Set(received.map(({ headers }) => headers['webhook-id'])).size;

/** Throws where a signature does not verify, as a receiver's own code would. */
export function verifyAll(received: Received[], secret: string): void {
  const webhook = new Webhook(secret);
  for (const { body, headers } of received) webhook.verify(body, headers as Record<string, string>);
}

/** All deliveries in one: what is owed, with its status in the outbox, and what is finished. */
export const allDeliveries = `(
  select delivery_id, webhook_id, status, attempt_count from outbox
  union all
  select delivery_id, webhook_id, status, attempt_count from deliveries) as all_deliveries`;

/** Statuses of a webhook's deliveries and how many have each. */
export async function countByStatus(service: Service, webhookId: string): Promise<Record<string, number>> {
  const rows = await service.sql<{ status: string; n: number }>(
    `select status, count(*)::int as n from ${allDeliveries} where webhook_id = $1 group by status`,
    [webhookId],
  );
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
}

/** Resolves when every delivery of the webhook has this status and is recorded. */
export const untilAllAre = (
  service: Service,
  webhookId: string,
  status: string,
  count: number,
  timeoutMs = 15_000,
) =>
  until(
    `${count} deliveries ${status}`,
    async () => {
      const counts = await countByStatus(service, webhookId);
      return counts[status] === count && Object.keys(counts).length === 1;
    },
    timeoutMs,
  );

/** Traces of what must never happen in a process's output. */
export const crashTraces = (output: string): string[] =>
  output.split('\n').filter((line) => /unhandled|uncaught|unexpected error|FATAL ERROR/i.test(line));
