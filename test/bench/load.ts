import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { sampleOrder, type Account } from '../client.js';

export interface Target {
  url: string;
  accountKey: string;
  token: string;
}

export const target = (url: string, { accountKey, token }: Account): Target => ({ url, accountKey, token });

/** When the 201 came for each tracking id, in milliseconds since 1970 with fractions. */
export type Accepted = Map<string, number>;

export const now = () => performance.timeOrigin + performance.now();
const body = Buffer.from(JSON.stringify(sampleOrder()));

/** One order over a kept connection; resolves with its tracking id when the 201 is there. */
export function place(target: Target, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${target.url}/v1/shipments?key=${target.accountKey}`,
      {
        method: 'POST',
        agent,
        headers: {
          authorization: `Bearer ${target.token}`,
          'content-type': 'application/json',
          'content-length': body.length,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => {
          const trackingId = /"trackingId":"(\w+)"/.exec(text)?.[1];
          if (response.statusCode === 201 && trackingId) resolve(trackingId);
          else reject(new Error(`order answered ${response.statusCode}: ${text.slice(0, 200)}`));
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** As fast as `connections` requests at a time allow. */
export async function placeOrders(target: Target, count: number, connections: number): Promise<Accepted> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const accepted: Accepted = new Map();
  let left = count;
  const one = async () => {
    while (left-- > 0) accepted.set(await place(target, agent), now());
  };
  await Promise.all(Array.from({ length: connections }, one));
  agent.destroy();
  return accepted;
}

/** At a steady rate whatever the answers (open loop). */
export async function placeOrdersAtRate(
  target: Target,
  perSecond: number,
  seconds: number,
): Promise<Accepted> {
  const agent = new Agent({ keepAlive: true, maxSockets: 200 });
  const accepted: Accepted = new Map();
  const pending: Promise<unknown>[] = [];
  const start = performance.now();
  for (let sent = 0; sent < perSecond * seconds;) {
    const owed = Math.floor(((performance.now() - start) / 1_000) * perSecond);
    for (; sent < Math.min(owed, perSecond * seconds); sent += 1) {
      pending.push(place(target, agent).then((trackingId) => accepted.set(trackingId, now())));
    }
    await sleep(1);
  }
  await Promise.all(pending);
  agent.destroy();
  return accepted;
}

/** The leanest way to post: what the same receiver takes from one bare node:http client. */
export async function postBare(url: string, count: number, connections: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const payload = Buffer.from(
    JSON.stringify({ state: 'CREATED', tracking_id: 'PH', padding: 'x'.repeat(150) }),
  );
  const headers = { 'content-type': 'application/json', 'content-length': payload.length };
  let left = count;
  const post = () =>
    new Promise<void>((resolve, reject) => {
      const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
        response.resume().on('end', resolve);
      });
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  const one = async () => {
    while (left-- > 0) await post();
  };
  await Promise.all(Array.from({ length: connections }, one));
  agent.destroy();
}
