import { Agent, request } from 'node:http';
import { sampleOrder, type Account } from '../../support/client.js';
import { now } from './clock.js';

export { now } from './clock.js';

export interface Target {
  url: string;
  accountKey: string;
  token: string;
}

export const target = (url: string, { accountKey, token }: Account): Target => ({ url, accountKey, token });

/** The time of the 201 by tracking id, by the clock of `now`. */
export type Accepted = Map<string, number>;

const body = Buffer.from(JSON.stringify(sampleOrder()));

/** Resolves with the tracking id after the 201. */
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
          else reject(new Error(`order returned ${response.statusCode}: ${text.slice(0, 200)}`));
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

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
