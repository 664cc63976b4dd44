import { setTimeout as sleep } from 'node:timers/promises';
import { operatorToken } from '../../../support/process.js';
import { sampleOrder, type Account } from '../../../support/client.js';
import type { Environment } from './environment.js';

export interface Traffic {
  setPatience(ms: number): void;
  stop(): Promise<void>;
}

const usualPatienceMs = 10_000;
const tickMs = 50;
const onTheWay = ['PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERED'];
const betweenStatesMs = 2_000;
/** Shipments on their way at once; later orders stay CREATED. */
const maxUnderWay = 60;

/** Orders, the next states of their shipments, and reads of people and programs meanwhile, whatever the responses. */
export function startTraffic({ api, accounts }: Environment, ordersPerSecond: number): Traffic {
  let patienceMs = usualPatienceMs;
  const over = new AbortController();
  const open = new Set<Promise<unknown>>();
  const underWay: { trackingId: string; states: number; readyAt: number }[] = [];
  let [orders, looks] = [0, 0];

  const call = async (path: string, token: string, body?: unknown): Promise<any> => {
    const response = await fetch(`${api.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.any([over.signal, AbortSignal.timeout(patienceMs)]),
    });
    const answer = (await response.json()) as { data?: unknown };
    return { status: response.status, data: answer.data };
  };
  const ofAccount = (account: Account, path: string, body?: unknown) =>
    call(`${path}${path.includes('?') ? '&' : '?'}key=${account.accountKey}`, account.token, body);
  const begin = (one: Promise<unknown>) => {
    const settled: Promise<unknown> = one.catch(() => undefined).finally(() => open.delete(settled));
    open.add(settled);
  };

  async function order(n: number): Promise<void> {
    const account = accounts[n % accounts.length]!;
    const { status, data } = await ofAccount(account, '/v1/shipments', {
      ...sampleOrder(),
      shipperTrackingId: `ORDER-${n}`,
    });
    if (status === 201 && underWay.length < maxUnderWay)
      underWay.push({ trackingId: data.trackingId, states: 0, readyAt: Date.now() + betweenStatesMs });
  }
  /** One that is refused comes again: its shipment may not be created yet. */
  async function move(shipment: (typeof underWay)[number]): Promise<void> {
    const state = onTheWay[shipment.states]!;
    const accepted = await call(`/operator/v1/shipments/${shipment.trackingId}/events`, operatorToken, {
      state,
    }).catch(() => ({ status: 0 }));
    const states = shipment.states + (accepted.status === 202 ? 1 : 0);
    if (states < onTheWay.length && !over.signal.aborted)
      underWay.push({ ...shipment, states, readyAt: Date.now() + betweenStatesMs });
  }
  const pages = [
    '/v1/webhooks?include=health',
    '/v1/shipments?limit=20',
    '/v1/deliveries?limit=20',
    '/v1/events?limit=20&wait=1s',
  ];
  const look = (n: number) => ofAccount(accounts[n % accounts.length]!, pages[n % pages.length]!);

  const startedAt = Date.now();
  const running = (async () => {
    while (!over.signal.aborted) {
      const seconds = (Date.now() - startedAt) / 1_000;
      for (; orders < seconds * ordersPerSecond; orders += 1) begin(order(orders));
      for (; looks < seconds; looks += 1) begin(look(looks));
      while (underWay[0] && underWay[0].readyAt <= Date.now()) begin(move(underWay.shift()!));
      await sleep(tickMs);
    }
  })();
  return {
    setPatience: (ms) => void (patienceMs = ms),
    stop: async () => {
      over.abort();
      await running;
      await Promise.all(open);
    },
  };
}
