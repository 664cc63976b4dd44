-- Up Migration

-- One row for a webhook that has failed lately; without a row its circuit is closed and nothing is wrong.
--   attempts, failures   counted since window_started_at, for at most a minute
--   failing_since        the first failure since the last success
--   open_until           null while closed; from then on one probe at a time is let through
--   times_opened         in a row: doubles the wait
create table circuits (
  webhook_id uuid primary key,
  window_started_at timestamptz not null,
  attempts integer not null,
  failures integer not null,
  failing_since timestamptz,
  last_success_at timestamptz,
  open_until timestamptz,
  times_opened integer not null default 0,
  probe_delivery_id uuid,
  probe_until timestamptz
) with (fillfactor = 50);

-- A delivery that waits its turn is HELD and looked at again at sweep_at, in case the release was lost. One that is
-- held because its webhook is not active or its circuit is open has no sweep_at.
drop index deliveries_to_sweep;
create index deliveries_to_sweep on deliveries (sweep_at) where sweep_at is not null;
