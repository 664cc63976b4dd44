import { connect } from 'node:net';
import { operator, placeOrder, registerAccount, type Account } from '../../../support/client.js';
import type { Struck } from './scene.js';

export const upkeepSettings = { API_RATE_LIMIT: '20', MAX_CONNECTIONS: '64' };

const drainsForMs = 6_000;
const idleConnections = 80;
const readersAtOnce = 60;

/** Everyday acts of operators and clients, none of which is worth an alert. */
export async function upkeep({ environment, discover }: Struck): Promise<void> {
  const { api, accounts, targets } = environment;
  const [first] = accounts;
  const { data } = await first!.call('/v1/webhooks');
  await first!.call(`/v1/webhooks/${data.webhooks[0].webhookId}`, {
    method: 'PATCH',
    body: { status: 'PAUSED' },
  });

  const [suspended, removed] = [await newcomer(), await newcomer()];
  await operator(api, `/shippers/${suspended.shipperId}`, { method: 'PATCH', body: { status: 'SUSPENDED' } });
  await operator(api, `/shipments/${await placeOrder(removed)}/erase`, { method: 'POST', body: {} });
  await operator(api, `/shippers/${removed.shipperId}`, { method: 'DELETE' });

  const greedy = await newcomer();
  await readers(greedy);
  for (const calls of [300, 20]) await ask(greedy, calls); // what the first ones use up, the others lack
  for (let n = 0; n < idleConnections; n += 1) idle(api.url);
  await replaceApi();

  async function newcomer(): Promise<Account> {
    const account = await registerAccount(api);
    await environment.addWebhook(account, 'well');
    await placeOrder(account);
    return account;
  }
  async function ask(account: Account, calls: number): Promise<void> {
    const one = () => account.call('/v1/states').catch(() => null);
    await Promise.all(Array.from({ length: calls }, one));
  }
  async function readers(account: Account): Promise<void> {
    const read = () => account.call('/v1/events?after=latest&wait=2s').catch(() => null);
    await Promise.all(Array.from({ length: readersAtOnce }, read));
  }
  /** The old one leaves as it does at a release. */
  async function replaceApi(): Promise<void> {
    const added = await environment.start('api', { SHUTDOWN_DELAY: `${drainsForMs}ms` });
    discover();
    setTimeout(() => added.kill('SIGTERM'), drainsForMs);
    void added.exited.then(() => {
      targets.splice(
        targets.findIndex(({ url }) => url === added.url),
        1,
      );
      discover();
    });
  }
}

/** A connection that asks for nothing; it goes with the process it leads to. */
function idle(url: string): void {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  socket.unref();
}
