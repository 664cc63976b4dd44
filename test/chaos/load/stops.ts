import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../../client.js';
import type { Stop } from '../model.js';
import type { World } from '../world/world.js';

const againAfterMs = 250;
const triedForMs = 300_000;
const now = () => performance.timeOrigin + performance.now();

/**
 * In the middle of it all one webhook is deleted and another paused and resumed, whatever else happens: asked again
 * until it is answered with 2xx. Nothing may be sent to them after those answers.
 */
export async function stopSome({ accounts, hooks }: World, pausedMs: number): Promise<Stop[]> {
  const [doomed, paused] = [hooks[0]!, hooks[3]!];
  const of = (hook: typeof doomed) => `/v1/webhooks/${hook.webhookId}`;
  await untilDone(() => accounts[doomed.shipper]!.call(of(doomed), { method: 'DELETE' }), [404]);
  const deletedAt = now();
  const set = (status: string) => () =>
    accounts[paused.shipper]!.call(of(paused), { method: 'PATCH', body: { status } });
  await untilDone(set('PAUSED'));
  const pausedAt = now();
  await sleep(pausedMs / 2);
  const resumedAt = now(); // before it is asked: it may have happened although the answer is lost
  await untilDone(set('ACTIVE'));
  return [
    { path: doomed.path, from: deletedAt, to: Infinity, deleted: true },
    { path: paused.path, from: pausedAt, to: resumedAt, deleted: false },
  ];
}

/** Asks until it is answered with 2xx, or a status that is fine too. A DELETE whose answer was lost is answered with 404 the next time. */
export async function untilDone(ask: () => Promise<Answer>, alsoFine: number[] = []): Promise<void> {
  for (const giveUpAt = now() + triedForMs; now() < giveUpAt; await sleep(againAfterMs)) {
    const status = (await ask().catch(() => null))?.httpStatus ?? 0;
    if ((status >= 200 && status < 300) || alsoFine.includes(status)) return;
  }
  throw new Error('a webhook could not be stopped');
}
