-- Up Migration

-- Who sends parcels, and who may speak for them.
create table shippers (
  shipper_id uuid primary key,
  name text not null,
  account_key_hash bytea not null unique,
  created_at timestamptz not null default now()
);

create table users (
  user_id uuid primary key,
  shipper_id uuid not null references shippers,
  email text not null,
  password_hash text,
  created_at timestamptz not null default now(),
  unique (shipper_id, email)
);

create table password_links (
  token_hash bytea primary key,
  user_id uuid not null references users,
  expires_at timestamptz not null
);

-- Accepted orders, as they were accepted: never changed. order_data and dropoff_location are JSON that nobody
-- queries, so they are text.
create table shipments (
  shipment_id uuid primary key,
  shipper_id uuid not null,
  process_id uuid not null,
  tracking_id text not null unique,
  shipper_tracking_id text not null,
  order_data text not null,
  dropoff_location text not null,
  accepted_at timestamptz not null
);

-- Orders whose shipment is still to be created.
create table orders_to_create (
  shipment_id uuid primary key
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, vacuum_truncate = off);

-- Where a shipment is. Its row comes with its first state; sequence counts its events and guards every change
-- (optimistic concurrency).
create table shipment_progress (
  shipment_id uuid primary key,
  shipper_id uuid not null,
  state text not null,
  sequence integer not null,
  updated_at timestamptz not null
) with (fillfactor = 70);

create table idempotency_keys (
  shipper_id uuid not null,
  key text not null,
  body_hash bytea not null,
  shipment_id uuid not null,
  created_at timestamptz not null,
  primary key (shipper_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- What happened to shipments, for ever: the tracking history. body is the notification, the same bytes on every
-- attempt. shipment_id is null for notifications that belong to no shipment (tests, notices).
create table events (
  event_id uuid primary key,
  external_id text,
  shipper_id uuid not null,
  shipment_id uuid,
  sequence integer not null,
  state text not null,
  recorded_at timestamptz not null,
  body text not null
);
create unique index events_by_shipment on events (shipment_id, sequence) where shipment_id is not null;
create unique index events_by_external_id on events (external_id) where external_id is not null;
-- A replay walks over the shipper's events in the order in which they were recorded.
create index events_by_shipper on events (shipper_id, event_id);

-- A webhook that is deleted stays for the log.
--   revision      counts its changes: who sends keeps what he knows of a webhook until the number moves
--   stopped_at    when it was last paused, disabled or deleted: what was asked for by hand before is not sent any more
--   called_since  when it was last resumed, or its circuit closed: ORDER_HOLD counts from there at the earliest
create table webhooks (
  webhook_id uuid primary key,
  shipper_id uuid not null references shippers,
  interests text[] not null,
  target_address text not null,
  status text not null check (status in ('ACTIVE', 'PAUSED', 'DISABLED')),
  disabled_reason text,
  ordering text not null check (ordering in ('SHIPMENT', 'NONE')),
  supersede boolean not null,
  headers jsonb not null,
  description text not null,
  secret text not null,
  previous_secret text,
  previous_secret_until timestamptz,
  revision integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  stopped_at timestamptz,
  called_since timestamptz
) with (fillfactor = 80);
create index webhooks_by_shipper on webhooks (shipper_id, webhook_id);

-- One row for a webhook that has failed lately; without a row its circuit is closed and nothing is wrong.
--   attempts, failures   counted since window_started_at, for at most a minute
--   failing_since        the first failure since the last success
--   open_until           null while closed; from then on one probe at a time is let through
--   times_opened         in a row: doubles the wait
--   probe_until          while a probe may be under way
create table circuits (
  webhook_id uuid primary key,
  window_started_at timestamptz not null,
  attempts integer not null,
  failures integer not null,
  failing_since timestamptz,
  last_success_at timestamptz,
  open_until timestamptz,
  times_opened integer not null default 0,
  probe_until timestamptz
) with (fillfactor = 50);

-- The id of a delivery follows from its event and webhook: the same pair can never be owed twice. It keeps
-- the time-ordered half of the event's UUIDv7, so it orders the log, cuts it into days and finds all
-- deliveries of an event as one range of the primary key.
create function delivery_id(event_id uuid, webhook_id uuid) returns uuid
language sql immutable parallel safe
return overlay(
  md5(event_id::text || webhook_id::text)
  placing left(replace(event_id::text, '-', ''), 16) || '8' from 1 for 17
)::uuid;

-- What is owed, and nothing else: a row leaves in the statement that writes the finished delivery into the log. Whether
-- its webhook may be called stands in webhooks and circuits, not here.
--   status           READY: it has not failed; SENDING: an attempt is under way; RETRY: it failed and is tried again
--   waits_turn       an earlier state of its shipment is owed to the webhook, which wants them one at a time
--   due_at           when the next attempt may begin; null while it waits its turn
--   lease_until      until when the attempt under way belongs to its worker
--   attempt_count    attempts started; the number of the last one is the fencing token of its result
--   failure_count    scheduled attempts that failed: the position in the retry schedule
--   first_failed_at  when it first failed: it blocks the states behind it for ORDER_HOLD from then
--   trigger          what its next attempt is to be logged as
--   replay_id        the replay that owes it
-- A claim changes status, lease_until and attempt_count only, which no index mentions: it is a HOT update.
create table outbox (
  shipper_id uuid not null,
  delivery_id uuid not null,
  event_id uuid not null,
  webhook_id uuid not null,
  shipment_id uuid,
  sequence integer not null,
  state text not null,
  status text not null check (status in ('READY', 'SENDING', 'RETRY')),
  waits_turn boolean not null default false,
  due_at timestamptz,
  lease_until timestamptz,
  attempt_count integer not null default 0,
  failure_count integer not null default 0,
  first_failed_at timestamptz,
  trigger text not null default 'SCHEDULED',
  replay_id uuid,
  primary key (shipper_id, delivery_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 50000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
create index outbox_due on outbox (webhook_id, due_at) where due_at is not null;
create index outbox_by_shipment on outbox (webhook_id, shipment_id, sequence);
create index outbox_waiting on outbox (webhook_id, shipment_id, sequence) where waits_turn;

-- The log: what is finished, with its last attempt. Written once; an attempt by hand replaces the last one, a replay
-- takes a failed one back into the outbox. Without duration_ms the outcome of the attempt is unknown: its worker was
-- gone before it could tell.
create table deliveries (
  shipper_id uuid not null,
  delivery_id uuid not null,
  event_id uuid not null,
  webhook_id uuid not null,
  state text not null,
  status text not null check (status in ('SUCCEEDED', 'FAILED', 'CANCELLED')),
  reason text,
  attempt_count integer not null,
  completed_at timestamptz not null,
  trigger text,
  started_at timestamptz,
  duration_ms integer,
  status_code integer,
  error_code text,
  response_body text,
  primary key (shipper_id, delivery_id)
) partition by range (delivery_id);
create index deliveries_by_kind on deliveries (shipper_id, status, state, delivery_id);
create index deliveries_of_webhook on deliveries (webhook_id, status, state, delivery_id);

-- The attempts before the last one: failures that were retried, and attempts that were lost.
create table attempts (
  shipper_id uuid not null,
  delivery_id uuid not null,
  number integer not null,
  trigger text not null,
  started_at timestamptz not null,
  duration_ms integer,
  status_code integer,
  error_code text,
  response_body text,
  primary key (delivery_id, number)
) partition by range (delivery_id);

-- Attempts asked for by hand: number and lease_until while one is under way.
create table redeliveries (
  delivery_id uuid primary key,
  shipper_id uuid not null,
  webhook_id uuid not null,
  requested_at timestamptz not null default now(),
  number integer,
  lease_until timestamptz
);
create index redeliveries_by_webhook on redeliveries (webhook_id, requested_at);

-- Catching up on what a webhook missed, piece by piece. last_event_id is how far it is; the events before
-- end_event_id are its range. total is what it found to send when it was asked for.
create table replays (
  replay_id uuid primary key,
  webhook_id uuid not null references webhooks,
  shipper_id uuid not null,
  shipment_id uuid,
  delivery_status text,
  last_event_id uuid not null,
  end_event_id uuid not null,
  total integer not null,
  done integer not null default 0,
  status text not null default 'RUNNING' check (status in ('RUNNING', 'DONE', 'CANCELLED')),
  next_at timestamptz not null default now(),
  finished_at timestamptz
);
create index replays_to_advance on replays (next_at) where status = 'RUNNING';

-- The first UUIDv7 of a moment: the bounds of a day's partition and of every search by time.
create function uuid_floor(moment timestamptz) returns uuid
language sql immutable parallel safe
return (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

-- Makes the log's partitions for the days from first_day to last_day (UTC) that are not there yet. A partition is
-- made first and attached then: that lock lets everybody go on, that of "create table ... partition of" nobody.
create function make_log_partitions(first_day date, last_day date) returns void
language plpgsql as $$
declare
  day date;
  parent text;
  partition text;
begin
  for day in select generate_series(first_day, last_day, '1 day')::date loop
    foreach parent in array array['deliveries', 'attempts'] loop
      partition := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
      if to_regclass(partition) is null then
        execute format('create table %I (like %I including all)', partition, parent);
        execute format(
          'alter table %I attach partition %I for values from (%L) to (%L)', parent, partition,
          uuid_floor(day::timestamp at time zone 'UTC'), uuid_floor((day + 1)::timestamp at time zone 'UTC')
        );
      end if;
    end loop;
  end loop;
end $$;
