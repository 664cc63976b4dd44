import { registerAccount, registerWebhook, type Account } from '../../../support/client.js';
import { target } from '../load.js';
import { latencies, probeFor } from './probe.js';
import type { Bench } from './scenario.js';

const shippers = 20;
const webhooksPerShipper = 5;

export interface Isolation {
  /** The latencies in ms, of the healthy ones of 100 webhooks, while those selected by `hangs` hang. */
  phase(seconds: number, hangs: (webhook: number) => boolean): Promise<number[]>;
}

/** Each order is one delivery to each of its shipper's five webhooks. */
export async function startIsolation(bench: Bench, ordersPerSecond: number): Promise<Isolation> {
  const { url } = await bench.deploy('all');
  const accounts = await Promise.all(Array.from({ length: shippers }, () => registerAccount({ url })));
  const targets = accounts.map((account) => target(url, account));
  return {
    phase: async (seconds, hangs) => {
      const kinds = accounts.map((_, shipper) =>
        Array.from({ length: webhooksPerShipper }, (_, n) =>
          hangs(shipper * webhooksPerShipper + n) ? 'hang' : 'ok',
        ),
      );
      const remove = await registerAll(bench, accounts, kinds);
      const probe = await probeFor(targets, bench.scaled(ordersPerSecond), seconds);
      const healthy = healthyOf(probe.accepted.size, kinds);
      const values = await latencies(bench.receiver, probe, 'ok', healthy);
      await remove();
      await bench.receiver.reset();
      return values;
    },
  };
}

/** Orders rotate between the shippers. */
const healthyOf = (orders: number, kinds: string[][]): number =>
  Array.from({ length: orders }, (_, n) => kinds[n % kinds.length]!)
    .map((ofShipper) => ofShipper.filter((kind) => kind === 'ok').length)
    .reduce((sum, healthy) => sum + healthy, 0);

/** New for each phase, so that no circuit state remains. */
async function registerAll(bench: Bench, accounts: Account[], kinds: string[][]) {
  const registered = await Promise.all(
    accounts.map(async (account, shipper) => {
      const webhookIds: string[] = [];
      for (const [n, kind] of kinds[shipper]!.entries()) {
        const address = new URL(`/${kind}/${shipper}-${n}`, bench.receiver.url).href;
        webhookIds.push((await registerWebhook(account, address)).webhookId);
      }
      return { account, webhookIds };
    }),
  );
  return async () => {
    await Promise.all(
      registered.map(async ({ account, webhookIds }) => {
        for (const id of webhookIds) await account.call(`/v1/webhooks/${id}`, { method: 'DELETE' });
      }),
    );
  };
}
