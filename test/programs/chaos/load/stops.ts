import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiResponse } from '../../../support/client.js';
import type { Stop } from '../model.js';
import type { World } from '../world/world.js';

const againAfterMs = 250;
const triedForMs = 300_000;
const now = () => performance.timeOrigin + performance.now();

/** One webhook is deleted, another paused and resumed, each until 2xx. Nothing may be sent to them after that. */
export async function stopSome({ accounts, hooks }: World, pausedMs: number): Promise<Stop[]> {
  const [toDelete, paused] = [hooks[0]!, hooks[3]!];
  const of = (hook: typeof toDelete) => `/v1/webhooks/${hook.webhookId}`;
  await untilDone(() => accounts[toDelete.shipper]!.call(of(toDelete), { method: 'DELETE' }), [404]);
  const deletedAt = now();
  const set = (status: string) => () =>
    accounts[paused.shipper]!.call(of(paused), { method: 'PATCH', body: { status } });
  await untilDone(set('PAUSED'));
  const pausedAt = now();
  await sleep(pausedMs / 2);
  const resumedAt = now(); // before the request: it may take effect although the response is lost
  await untilDone(set('ACTIVE'));
  return [
    { path: toDelete.path, from: deletedAt, to: Infinity, deleted: true },
    { path: paused.path, from: pausedAt, to: resumedAt, deleted: false },
  ];
}

/** A repeated DELETE gets 404 if its first response was lost. */
export async function untilDone(ask: () => Promise<ApiResponse>, alsoFine: number[] = []): Promise<void> {
  for (const giveUpAt = now() + triedForMs; now() < giveUpAt; await sleep(againAfterMs)) {
    const status = (await ask().catch(() => null))?.httpStatus ?? 0;
    if ((status >= 200 && status < 300) || alsoFine.includes(status)) return;
  }
  throw new Error('a webhook could not be stopped');
}
