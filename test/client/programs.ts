/** Programs of a user of the package. Their settings come from the environment. */

const settings = `{
  url: process.env.PARCELHOOK_URL,
  key: process.env.PARCELHOOK_KEY,
  email: process.env.PARCELHOOK_EMAIL,
  password: process.env.PARCELHOOK_PASSWORD,
}`;

export const flow = `
import { createServer } from 'node:http';
import { createClient, memoryStore, ParcelhookError, receiver } from '@parcelhook/client';

const client = createClient(${settings});
let handler;
const server = createServer((request, response) => handler(request, response));
let told;
const notified = new Promise((resolve) => (told = resolve));
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const targetAddress = \`http://127.0.0.1:\${server.address().port}/\`;
const { webhookId, secret } = await client.webhooks.create({ interests: ['CREATED'], targetAddress });
handler = receiver({ secret, store: memoryStore(), client, onNotification: (notification) => told(notification) });

const order = JSON.parse(process.env.ORDER);
const { trackingId } = await client.shipments.create(order, { idempotencyKey: 'order-1' });
const again = await client.shipments.create(order, { idempotencyKey: 'order-1' });
const notification = await notified;
const states = [];
for await (const delivery of client.deliveries.all({ webhookId, limit: 1 })) states.push(delivery.state);
const refusal = await client.webhooks.get('not-there').catch((error) => error);
await client.webhooks.delete(webhookId);
server.close();
console.log(JSON.stringify({
  same: again.trackingId === trackingId && notification.tracking_id === trackingId,
  processId: again.processId,
  states,
  refusal: refusal instanceof ParcelhookError && refusal.code,
}));
`;

/** Runs what was bundled of the entry for edges. */
export const edge = `
import { diagnose, memoryStore, receiver, verify } from './bundled.mjs';
import { createHmac } from 'node:crypto';

const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const body = JSON.stringify({ state: 'CREATED', tracking_id: 'PH1' });
const seconds = String(Math.floor(Date.now() / 1_000));
const key = Buffer.from(secret.slice(6), 'base64');
const signature = 'v1,' + createHmac('sha256', key).update('e1.' + seconds + '.' + body).digest('base64');
const headers = { 'webhook-id': 'e1', 'webhook-timestamp': seconds, 'webhook-signature': signature };
const handled = [];
const handler = receiver({ secret, store: memoryStore(), onNotification: ({ state }) => handled.push(state) });
const post = async (text) =>
  (await handler(new Request('https://example.com/', { method: 'POST', headers, body: text }))).status;
const statuses = [await post(body), await post(body + ' ')];
const { state } = await verify(new Headers(headers), new TextEncoder().encode(body).buffer, secret);
const { ok } = await diagnose({ headers, rawBody: body, secret });
console.log(JSON.stringify({ statuses, handled, ok: ok && state === 'CREATED' }));
`;

/** Uses \`require\` and checks that both formats share the error class. */
export const commonJs = `
const { createClient, diagnose, memoryStore, ParcelhookError, receiver, version } = require('@parcelhook/client');
const client = createClient(${settings});
(async () => {
  const refusal = await client.deliveries.list({ limit: 0 }).catch((error) => error);
  const others = await import('@parcelhook/client');
  console.log(JSON.stringify({
    version,
    code: refusal.code,
    details: refusal.details.map(({ path }) => path),
    one: others.ParcelhookError === ParcelhookError && refusal instanceof others.ParcelhookError,
    kit: [receiver, memoryStore, diagnose].every((each) => others[each.name] === each),
    missing: (await diagnose({ headers: '', rawBody: '', secret: '' })).findings.map(({ cause }) => cause),
  }));
})();
`;

/** Every method with its parameters and result types, and calls that must not compile. */
export const typed = `
import {
  createClient, createOperatorClient, diagnose, memoryStore, ParcelhookError, parseHeaders, postgresStore, receiver, verify,
  type Delivery, type Diagnosis, type FeedEvent, type Notice, type Notification, type Order, type PostgresPool,
  type ReceiverHandler, type ReceiverStore, type WebhookWithSecret,
} from '@parcelhook/client';
import { receiver as receiverOnEdge, verify as verifyOnEdge, type WebReceiver } from '@parcelhook/client/web';

export const edge: WebReceiver = receiverOnEdge({ secret: 's', store: memoryStore(), onNotification: () => undefined });
export const read: Promise<Notification | Notice> = verifyOnEdge(new Headers(), new ArrayBuffer(1), 's');

declare const order: Order;
declare const pool: PostgresPool;
const signal = AbortSignal.timeout(1_000);
const client = createClient({ url: 'http://localhost', key: 'k', email: 'e', password: 'p', timeoutMs: 1, retries: 1 });

export async function all(): Promise<void> {
  const { trackingId, processId, package: { items } } = await client.shipments.create(order, { idempotencyKey: '1', signal });
  const made: [string, string, unknown] = [trackingId, processId, items];
  const { shipments, nextCursor } = await client.shipments.list({ shipperTrackingId: 'O-1', state: 'CREATED' });
  const at: string | null | undefined = shipments[0]?.state ?? nextCursor;
  for await (const { shipmentId } of client.shipments.all({ limit: 10 })) shipmentId.toUpperCase();
  const { recipientInformation, erasedAt } = await client.shipments.get(trackingId);
  recipientInformation.fullName.slice(erasedAt?.length);
  const { history } = await client.shipments.track(trackingId);
  history[0]?.timestamp.toFixed();
  (await client.shipments.waitFor(trackingId, ['CREATED', 'MY_OWN_STATE'], { totalTimeoutMs: 1, signal })).state?.slice();
  const { eventId } = await client.shipments.cancel(trackingId);
  eventId.slice();
  const { states, intervalMs } = await client.shipments.simulate(trackingId, { intervalMs: 100 });
  intervalMs.toFixed(states.length);

  const webhook: WebhookWithSecret = await client.webhooks.create({ interests: ['*'], targetAddress: 'https://example.com' });
  const { webhookId, secret } = webhook;
  const { webhooks } = await client.webhooks.list({ limit: 1 });
  for await (const { ordering } of client.webhooks.all()) if (ordering === 'NONE') break;
  const { health } = await client.webhooks.get(webhookId);
  if (health.circuit === 'OPEN') health.nextProbeAt?.slice();
  await client.webhooks.update(webhookId, { status: 'PAUSED' });
  const { statusCode } = await client.webhooks.test(webhookId, { state: 'MY_OWN_STATE' });
  statusCode?.toFixed();
  const rotated: string = (await client.webhooks.rotateSecret(webhookId, { overlap: '0s' })).secret;
  (await client.webhooks.endEarlierSecrets(webhookId)).ended.toFixed();
  const { replayId } = await client.webhooks.replay(webhookId, { from: '2026-01-01T00:00:00Z', to: 1 });
  const { hours } = await client.webhooks.stats(webhookId, { hours: 48 });
  hours[0]?.attempts.toFixed();
  await client.webhooks.delete(webhookId);

  const { total, status } = await client.replays.get(replayId);
  if (status === 'DONE') total?.toFixed();
  (await client.replays.list(webhookId)).replays.length.toFixed();
  await client.replays.cancel(replayId);

  const { deliveries } = await client.deliveries.list({ status: 'FAILED', webhookId, from: '2026-01-01' });
  const delivery: Delivery | undefined = deliveries[0];
  for await (const { lastAttempt } of client.deliveries.all({ trackingId })) lastAttempt?.errorCode?.slice();
  const { attempts, payload } = await client.deliveries.get('d', { attemptsCursor: 'c' });
  if (attempts[0]?.trigger === 'TEST') payload.state.slice();
  const { deliveryId } = await client.deliveries.redeliver('d');

  const page = await client.events.list({ after: 'latest', wait: '10s' });
  page.nextCursor.slice();
  for await (const event of client.events.follow({ after: 'c', trackingId, signal, onCursor: (cursor) => void cursor.slice() })) {
    const { notification, sequence }: FeedEvent = event;
    notification.tracking_id.slice(sequence);
  }
  (await client.states()).states[0]?.next.join();
  (await client.egress({ signal })).addresses.join();
  const token = await client.tokens.create({ name: 'n', scopes: ['read'], expiresAt: new Date() });
  for await (const { lastUsedOn } of client.tokens.all()) (await client.tokens.revoke(token.tokenId)).tokenId === lastUsedOn;
  const { addresses } = await client.request('get', '/v1/egress', {});

  const told: Notification | Notice = verify(new Headers(), new Uint8Array(), [secret, rotated], { now: new Date() });
  if ('tracking_id' in told) told.shipper_tracking_id.slice();
  else told.webhook_id.slice();

  const { ok, findings }: Diagnosis = await diagnose({ headers: parseHeaders('a: b'), rawBody: '', secret, previousSecret: rotated });
  for (const finding of findings) if (finding.cause === 'CLOCK_OFF') finding.clockAheadSeconds.toFixed();
  const memory: ReceiverStore = memoryStore({ maxShipments: 1 });
  const inMemory: ReceiverHandler = receiver({
    secret, store: memory, client, interests: ['DELIVERED'],
    onNotification: ({ state }, { sequence, missing, source }) => [state.slice(), sequence?.toFixed(), missing?.from, source === 'FEED'],
    onNotice: ({ webhook_id }) => webhook_id.slice(),
  });
  const missed: number = await inMemory.reconcile(new Date());
  const store = postgresStore(pool, { table: 'shop.received' });
  await store.createTables();
  receiver({
    secret: [secret, rotated], store,
    onNotification: async ({ tracking_id }, { transaction }) => void (await transaction.query('select $1', [tracking_id])).rows,
  });

  const operator = createOperatorClient({ url: 'http://localhost', token: 't' });
  const { accountKey } = await operator.request('post', '/operator/v1/shippers', { body: { name: 'Books' } });
  await operator.request('post', '/operator/v1/shipments/{trackingId}/events', { path: { trackingId }, body: { state: 'LOST' } });
  console.log(made, at, webhooks, delivery, deliveryId, addresses, accountKey, ok, missed);
}

export function explained(error: unknown): string {
  if (!(error instanceof ParcelhookError)) throw error;
  if (error.code === 'TOO_MANY_REQUESTS') return \`\${error.retryAfterMs ?? 0} ms\`;
  return \`\${error.status} \${error.requestId} \${error.details.map(({ path, message }) => path + message).join()}\`;
}

export async function wrong(error: ParcelhookError): Promise<void> {
  // @ts-expect-error A key is required.
  createClient({ url: 'http://localhost', email: 'e', password: 'p' });
  // @ts-expect-error There is no such status.
  await client.deliveries.list({ status: 'LOST' });
  // @ts-expect-error There is no such filter.
  await client.deliveries.list({ wehbookId: 'w' });
  // @ts-expect-error An address is required.
  await client.webhooks.create({ interests: ['*'] });
  // @ts-expect-error There is no such field.
  await client.webhooks.update('w', { targetAdress: 'https://example.com' });
  // @ts-expect-error The secret is shown when it is made, and not again.
  (await client.webhooks.get('w')).secret;
  // @ts-expect-error There is no such code.
  if (error.code === 'NO_SUCH_CODE') return;
  // @ts-expect-error There is no such path.
  await client.request('get', '/v1/webhook', {});
  // @ts-expect-error The path needs its id.
  await client.request('get', '/v1/webhooks/{webhookId}', {});
  // @ts-expect-error A receiver remembers.
  receiver({ secret: 'whsec_', onNotification: () => undefined });
  // @ts-expect-error An order has a package.
  await client.shipments.create({ ...order, package: undefined });
}
`;
