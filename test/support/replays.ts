import type { Account } from './client.js';
import type { Service } from './harness.js';
import { deliveriesOf, untilFound } from './deliveries.js';

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

/** Owed to no webhook, four per shipment. */
export const addMissedEvents = (service: Pick<Service, 'sql'>, shipperId: string, count: number, after = 0) =>
  service.sql(
    `insert into events (event_id, shipper_id, shipment_id, sequence, state, recorded_at, body)
     select overlay(overlay(gen_random_uuid()::text placing left(uuid_floor(now() - n * interval '20 ms')::text, 13) from 1 for 13)
            placing '7' from 15 for 1)::uuid, $1::uuid, md5($1::uuid::text || n / 4)::uuid, 4 - n % 4, 'IN_TRANSIT', now(), '{}'
       from generate_series($3::int + 1, $3::int + $2::int) n`,
    [shipperId, count, after],
  );

/** Both are set once the tests run. */
export function replayCalls(service: () => Pick<Service, 'sql'>, account: () => Account) {
  const lastHour = () => ({ from: Date.now() - 3_600_000, to: new Date().toISOString() });
  const replay = (webhookId: string, body: object = lastHour(), as = account()) =>
    as.call(`/v1/webhooks/${webhookId}/replay`, { body });
  const progressOf = async (replayId: unknown, as = account()) =>
    (await as.call(`/v1/replays/${String(replayId)}`)).data as Replay;
  const untilOver = (replayId: unknown, as = account()) =>
    untilFound(async () => {
      const progress = await progressOf(replayId, as);
      return progress.status !== 'RUNNING' && progress;
    });
  const untilWalked = (replayId: unknown) =>
    untilFound(
      async () =>
        (
          await service().sql('select 1 from replays where replay_id = $1 and walked_at is not null', [
            replayId,
          ])
        ).length > 0,
    );
  const settled = (webhookId: string, count: number, status: string) =>
    untilFound(async () => {
      const deliveries = await deliveriesOf(account(), webhookId);
      return deliveries.filter((delivery) => delivery.status === status).length === count && deliveries;
    });
  return { lastHour, replay, progressOf, untilOver, untilWalked, settled };
}
