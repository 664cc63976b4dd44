import { placeOrder, readAll, registerWebhook, type Account } from './client.js';
import { startReceiver, type Receiver, type Reply } from './receiver.js';
import { pause, until } from './until.js';

export interface LoggedDelivery {
  deliveryId: string;
  eventId: string;
  state: string;
  status: string;
  attemptCount: number;
  nextAttemptAt: string | null;
  completedAt: string | null;
  lastAttempt: { durationMs: number | null } | null;
  attempts: Record<string, unknown>[];
}

interface Queried {
  sql<Row>(text: string, values?: unknown[]): Promise<Row[]>;
}

export interface Hook {
  webhookId: string;
  secret: string;
  receiver: Receiver;
  /** The receiver's response from now on. */
  response: Reply;
  close(): Promise<void>;
}

export async function startHook(account: Account, fields: object = {}): Promise<Hook> {
  const response: Reply = { status: 200 };
  const receiver = await startReceiver(() => ({ ...response }));
  const { webhookId, secret } = await registerWebhook(account, receiver.url, fields);
  const close = async () => {
    await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
    await receiver.close();
  };
  return { webhookId, secret, receiver, response, close };
}

export async function deliveriesOf(account: Account, webhookId: string): Promise<LoggedDelivery[]> {
  const { data } = await account.call(`/v1/deliveries?webhookId=${webhookId}&limit=250`);
  return data.deliveries as LoggedDelivery[];
}

export async function countShown(account: Account, webhookId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const path = `/v1/deliveries?webhookId=${webhookId}&limit=250`;
  for (const { status } of await readAll<LoggedDelivery>(account.call, path, 'deliveries'))
    counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

export async function untilDelivery(
  account: Account,
  deliveryId: string,
  matches: (delivery: LoggedDelivery) => boolean,
): Promise<LoggedDelivery> {
  let seen: LoggedDelivery | undefined;
  const found = untilFound(async () => {
    seen = (await account.call(`/v1/deliveries/${deliveryId}`)).data as unknown as LoggedDelivery;
    return matches(seen) ? seen : null;
  });
  return found.catch((error: unknown) => {
    throw new Error(`the delivery was last seen as ${JSON.stringify(seen)}`, { cause: error });
  });
}

/** Rejects after twenty seconds. */
export async function untilFound<T>(look: () => Promise<T | null | undefined | false>): Promise<T> {
  const startedAt = Date.now();
  for (; Date.now() < startedAt + 20_000; await pause(startedAt)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error('not found within 20 s');
}

/** Returns its delivery after the first attempt, or once it is held. */
export async function orderDelivered(account: Account, webhookId: string): Promise<string> {
  const before = (await deliveriesOf(account, webhookId)).length;
  await placeOrder(account);
  return untilFound(async () => {
    const deliveries = await deliveriesOf(account, webhookId);
    const [newest] = deliveries;
    if (!newest || deliveries.length === before) return null;
    if (newest.status === 'HELD') return newest.deliveryId;
    const { data } = await account.call(`/v1/deliveries/${newest.deliveryId}`);
    return (data as unknown as LoggedDelivery).attempts.length > 0 && newest.deliveryId;
  });
}

export const allDeliveries = `(
  select delivery_id, webhook_id, status, attempt_count from outbox
  union all
  select delivery_id, webhook_id, status, attempt_count from deliveries) as all_deliveries`;

export async function countByStatus(service: Queried, webhookId: string): Promise<Record<string, number>> {
  const rows = await service.sql<{ status: string; n: number }>(
    `select status, count(*)::int as n from ${allDeliveries} where webhook_id = $1 group by status`,
    [webhookId],
  );
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
}

export const untilAllAre = (
  service: Queried,
  webhookId: string,
  status: string,
  count: number,
  timeoutMs = 60_000,
) =>
  until(
    `${count} deliveries ${status}`,
    async () => {
      const counts = await countByStatus(service, webhookId);
      return counts[status] === count && Object.keys(counts).length === 1;
    },
    timeoutMs,
  );
