import type { Service } from '../../harness.js';
import { until } from '../support.js';

/** What tests of circuits look at and change in the tables of a service that is there once the tests run. */
export function circuitCalls(service: () => Service) {
  const waitingForRetry = async (webhookId: string) => {
    const waiting = `select from outbox where webhook_id = $1 and status = 'RETRY' and failure_count = 1`;
    return (await service().sql(waiting, [webhookId])).length;
  };
  const isOpen = async (webhookId: string) => {
    const open = 'select 1 from circuits where webhook_id = $1 and open_until is not null';
    return (await service().sql(open, [webhookId])).length > 0;
  };
  const untilOpenedTwice = (webhookId: string) =>
    until('it is open again', async () => {
      const twice = 'select 1 from circuits where webhook_id = $1 and times_opened = 2';
      return (await service().sql(twice, [webhookId])).length > 0;
    });
  const forceOpen = (webhookId: string) =>
    service().sql(
      `insert into circuits (webhook_id, window_started_at, attempts, failures, failing_since, open_until, open_wait,
                             times_opened)
       values ($1, now(), 10, 10, now(), now() + interval '1 hour', interval '1 hour', 1)
       on conflict (webhook_id) do update set open_until = excluded.open_until, open_wait = excluded.open_wait,
                                              times_opened = 1`,
      [webhookId],
    );
  return { waitingForRetry, isOpen, untilOpenedTwice, forceOpen };
}
