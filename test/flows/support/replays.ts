import type { Account } from '../../client.js';
import type { Service } from '../../harness.js';
import { deliveriesOf, until } from './log.js';

export interface Replay {
  replayId: string;
  webhookId: string;
  total: number | null;
  done: number;
  status: string;
  from: string;
  to: string;
  finishedAt: string | null;
}

/** What tests of replays ask for and wait for, as one account of a service; both are there once the tests run. */
export function replayCalls(service: () => Service, account: () => Account) {
  const lastHour = () => ({ from: Date.now() - 3_600_000, to: new Date().toISOString() });
  const replay = (webhookId: string, body: object = lastHour(), as = account()) =>
    as.call(`/v1/webhooks/${webhookId}/replay`, { body });
  const progressOf = async (replayId: unknown, as = account()) =>
    (await as.call(`/v1/replays/${String(replayId)}`)).data as Replay;
  const untilOver = (replayId: unknown, as = account()) =>
    until(async () => {
      const progress = await progressOf(replayId, as);
      return progress.status !== 'RUNNING' && progress;
    });
  /** All is set going that it has found. */
  const untilWalked = (replayId: unknown) =>
    until(
      async () =>
        (
          await service().sql('select 1 from replays where replay_id = $1 and walked_at is not null', [
            replayId,
          ])
        ).length > 0,
    );
  const settled = (webhookId: string, count: number, status: string) =>
    until(async () => {
      const deliveries = await deliveriesOf(account(), webhookId);
      return deliveries.filter((delivery) => delivery.status === status).length === count && deliveries;
    });
  return { lastHour, replay, progressOf, untilOver, untilWalked, settled };
}
