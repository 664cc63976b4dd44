import { operator, placeOrder, registerAccount, registerWebhook, type Account } from '../../client.js';
import { startLoad } from '../../flows/support.js';
import { startReceiver, type Receiver } from '../../receiver.js';

export interface Traffic {
  stop(): Promise<void>;
}

/**
 * Orders for five webhooks: one that is well, one that fails every other time, one that always fails, one that is
 * gone and one that hangs. Goes on until it is stopped; by then each has shown what it does.
 */
export async function startTraffic(service: { url: string }): Promise<Traffic> {
  const account = await registerAccount(service);
  let calls = 0;
  const receivers = {
    well: await startReceiver(),
    flaky: await startReceiver(() => ({ status: calls++ % 2 ? 200 : 503 })),
    failing: await startReceiver(() => ({ status: 500 })),
    gone: await startReceiver(() => ({ status: 410 })),
    hanging: await startReceiver(() => undefined),
  };
  for (const { url } of Object.values(receivers)) await registerWebhook(account, url);
  await untilGivenUp(account, receivers.failing);
  const load = startLoad(() => account, 100);
  const events = setInterval(() => void pickUp(service, load.accepted.at(-1)), 500);
  return {
    stop: async () => {
      clearInterval(events);
      await load.stop();
      await Promise.all(Object.values(receivers).map((receiver) => receiver.close()));
    },
  };
}

/** One delivery spends all its retries before there are enough failures to open the circuit. */
async function untilGivenUp(account: Account, failing: Receiver): Promise<void> {
  await placeOrder(account);
  await failing.waitFor(3);
}

async function pickUp(service: { url: string }, trackingId: string | undefined): Promise<void> {
  if (trackingId)
    await operator(service, `/shipments/${trackingId}/events`, { body: { state: 'PICKED_UP' } }).catch(
      () => undefined,
    );
}
