import type { Account } from '../../../support/client.js';
import type { LogOwner } from './log-fill.js';
import type { Bench } from './scenario.js';

const statuses = ['PENDING', 'SENDING', 'HELD', 'SUCCEEDED', 'FAILED', 'CANCELLED'];
const states = ['CREATED', 'IN_TRANSIT', 'DELIVERED', 'DELIVERY_FAILED', 'LOST', 'RETURNED'];
const dayMs = 86_400_000;

type Filter = Record<string, string>;

export interface LogQuery {
  name: string;
  account: Account;
  query: string;
}

export interface LogShipper {
  owner: LogOwner;
  account: Account;
}

export async function queriesOf(bench: Bench, shippers: LogShipper[], daysBack: number): Promise<LogQuery[]> {
  const of = (kind: LogOwner['kind']) => shippers.find(({ owner }) => owner.kind === kind)!;
  const { account, owner } = of('big');
  const [big, late] = owner.webhookIds as [string, string];
  const at = (days: number) => new Date(Date.now() - days * dayMs).toISOString();
  const trackingId = await someTrackingId(bench, owner.shipperId);
  const filters: Filter[] = [
    {},
    { limit: '250' },
    { webhookId: big },
    { webhookId: late },
    ...statuses.map((status) => ({ status })),
    ...states.map((state) => ({ state })),
    ...states.flatMap((state) => statuses.map((status) => ({ status, state }))),
    ...statuses.map((status) => ({ webhookId: big, status })),
    ...states.map((state) => ({ webhookId: big, state })),
    { trackingId },
    { from: at(1) },
    { to: at(daysBack / 2) },
    { from: at(daysBack / 2), to: at(daysBack / 2 - 1) },
    ...statuses.map((status) => ({ trackingId, status })),
    ...['CREATED', 'LOST'].map((state) => ({ trackingId, state })),
    { trackingId, webhookId: big },
    { trackingId, webhookId: late },
    { trackingId, from: at(daysBack / 2) },
    { trackingId, to: at(daysBack / 2) },
    { webhookId: big, from: at(1) },
    { webhookId: big, to: at(daysBack / 2) },
    { webhookId: late, to: at(daysBack / 2) },
    ...statuses.flatMap((status) => [
      { status, from: at(1) },
      { status, to: at(daysBack / 2) },
    ]),
    ...['CREATED', 'LOST', 'RETURNED'].flatMap((state) => [
      { state, from: at(1) },
      { state, to: at(daysBack / 2) },
    ]),
    { from: at(daysBack), to: at(daysBack - 1), status: 'FAILED' },
    { from: at(daysBack), to: at(daysBack - 1), state: 'LOST' },
  ];
  const hundred: Filter[] = [
    {},
    { limit: '250' },
    ...statuses.map((status) => ({ status })),
    ...states.map((state) => ({ state })),
    { status: 'SUCCEEDED', state: 'LOST' },
    { status: 'FAILED', state: 'LOST' },
    { to: at(daysBack / 2) },
    { trackingId: await someTrackingId(bench, of('many').owner.shipperId) },
  ];
  const dead: Filter[] = [
    {},
    ...statuses.map((status) => ({ status })),
    ...statuses.map((status) => ({ status, state: 'CREATED' })),
    ...statuses.map((status) => ({ status, state: 'LOST' })),
  ];
  return [
    ...filters.map((filter) => queryOf('', account, filter)),
    ...(await pages(account, {})),
    ...(await pages(account, { status: 'FAILED' })),
    ...hundred.map((filter) => queryOf('100 webhooks: ', of('many').account, filter)),
    ...dead.map((filter) => queryOf('a dead webhook: ', of('dead').account, filter)),
  ];
}

async function someTrackingId(bench: Bench, shipperId: string): Promise<string> {
  const [row] = await bench.sql<{ id: string }>(
    'select tracking_id as id from shipments where shipper_id = $1 limit 1',
    [shipperId],
  );
  return row!.id;
}

function queryOf(prefix: string, account: Account, filter: Filter, cursor?: string): LogQuery {
  const told = ['state', 'status', 'limit'];
  const names = Object.entries(filter).map(([name, value]) =>
    told.includes(name) ? `${name}=${value}` : name,
  );
  const query = new URLSearchParams({ ...filter, ...(cursor && { cursor }) }).toString();
  return { name: prefix + (names.join(' ') || 'none'), account, query };
}

async function pages(account: Account, filter: Filter): Promise<LogQuery[]> {
  const found: LogQuery[] = [];
  let cursor: string | undefined;
  for (let page = 2; page <= 20; page += 1) {
    const { data } = await account.call(`/v1/deliveries?${queryOf('', account, filter, cursor).query}`);
    if (typeof data.nextCursor !== 'string') break;
    cursor = data.nextCursor;
    if (page === 2 || page === 20) found.push(queryOf(`page ${page}: `, account, filter, cursor));
  }
  return found;
}
