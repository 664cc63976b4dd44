import { placeOrder, registerWebhook, type Account } from '../../client.js';
import { pause } from '../../pause.js';
import { startReceiver, type Receiver, type Reply } from '../../receiver.js';

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

export interface Hook {
  webhookId: string;
  secret: string;
  receiver: Receiver;
  /** How the receiver answers from now on. */
  answer: Reply;
  /** Deletes the webhook and stops its receiver. */
  close(): Promise<void>;
}

/** A webhook with a receiver of its own. */
export async function startHook(account: Account, fields: object = {}): Promise<Hook> {
  const answer: Reply = { status: 200 };
  const receiver = await startReceiver(() => ({ ...answer }));
  const { webhookId, secret } = await registerWebhook(account, receiver.url, fields);
  const close = async () => {
    await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
    await receiver.close();
  };
  return { webhookId, secret, receiver, answer, close };
}

export async function deliveriesOf(account: Account, webhookId: string): Promise<LoggedDelivery[]> {
  const { data } = await account.call(`/v1/deliveries?webhookId=${webhookId}&limit=250`);
  return data.deliveries as LoggedDelivery[];
}

/** How many of the webhook's deliveries the log shows in each status. */
export async function countShown(account: Account, webhookId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = `/v1/deliveries?webhookId=${webhookId}&limit=250${cursor && `&cursor=${cursor}`}`;
    const { data } = await account.call(page);
    for (const { status } of data.deliveries as LoggedDelivery[]) counts[status] = (counts[status] ?? 0) + 1;
    cursor = data.nextCursor as string | null;
  }
  return counts;
}

/** The delivery with its attempts as soon as it is as described. */
export async function untilDelivery(
  account: Account,
  deliveryId: string,
  matches: (delivery: LoggedDelivery) => boolean,
): Promise<LoggedDelivery> {
  let seen: LoggedDelivery | undefined;
  const found = until(async () => {
    seen = (await account.call(`/v1/deliveries/${deliveryId}`)).data as unknown as LoggedDelivery;
    return matches(seen) ? seen : null;
  });
  return found.catch((error: unknown) => {
    throw new Error(`the delivery was last seen as ${JSON.stringify(seen)}`, { cause: error });
  });
}

/** Waits until `look` finds something; rejects after twenty seconds. */
export async function until<T>(look: () => Promise<T | null | undefined | false>): Promise<T> {
  const startedAt = Date.now();
  for (; Date.now() < startedAt + 20_000; await pause(startedAt)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error('it did not come to that within 20 s');
}

/** Places an order; its delivery to the webhook after the first attempt, or as soon as it is held. */
export async function orderDelivered(account: Account, webhookId: string): Promise<string> {
  const before = (await deliveriesOf(account, webhookId)).length;
  await placeOrder(account);
  return until(async () => {
    const deliveries = await deliveriesOf(account, webhookId);
    const [newest] = deliveries;
    if (!newest || deliveries.length === before) return null;
    if (newest.status === 'HELD') return newest.deliveryId;
    const { data } = await account.call(`/v1/deliveries/${newest.deliveryId}`);
    return (data as unknown as LoggedDelivery).attempts.length > 0 && newest.deliveryId;
  });
}
