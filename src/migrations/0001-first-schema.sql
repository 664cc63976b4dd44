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

-- Accepted orders. state is null until the worker has created the shipment; sequence counts its events
-- and guards every change (optimistic concurrency).
create table shipments (
  shipment_id uuid primary key,
  shipper_id uuid not null references shippers,
  process_id uuid not null,
  tracking_id text not null unique,
  shipper_tracking_id text not null,
  order_data jsonb not null,
  dropoff_location jsonb not null,
  accepted_at timestamptz not null,
  state text,
  sequence integer not null default 0
);
create index shipments_to_create on shipments (shipment_id) where state is null;

create table idempotency_keys (
  shipper_id uuid not null,
  key text not null,
  body_hash bytea not null,
  shipment_id uuid not null,
  created_at timestamptz not null,
  primary key (shipper_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- What happened to shipments, for ever: the tracking history. body is the notification, the same bytes
-- on every attempt. shipment_id is null for notifications that belong to no shipment (tests).
create table events (
  event_id uuid primary key,
  external_id text,
  shipper_id uuid not null,
  shipment_id uuid,
  sequence integer not null,
  state text not null,
  occurred_at timestamptz not null,
  recorded_at timestamptz not null,
  body text not null
);
create unique index events_by_shipment on events (shipment_id, sequence) where shipment_id is not null;
create unique index events_by_external_id on events (external_id) where external_id is not null;

-- A webhook that is deleted stays for the log. backlog is what the sweeper still has to do with its open
-- deliveries: RELEASE those that were held, CANCEL those of a deleted one.
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
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  backlog text check (backlog in ('RELEASE', 'CANCEL'))
);
create index webhooks_by_shipper on webhooks (shipper_id, webhook_id);
create index webhooks_with_backlog on webhooks (webhook_id) where backlog is not null;

-- The id of a delivery follows from its event and webhook: the same pair can never be owed twice. It keeps
-- the time-ordered half of the event's UUIDv7, so it orders the log, cuts it into days and finds all
-- deliveries of an event as one range of the primary key.
create function delivery_id(event_id uuid, webhook_id uuid) returns uuid
language sql immutable parallel safe
return overlay(
  md5(event_id::text || webhook_id::text)
  placing left(replace(event_id::text, '-', ''), 16) || '8' from 1 for 17
)::uuid;

-- One row per notification owed.
--   attempt_count  attempts started; the number of the last one is the fencing token of its result
--   failure_count  scheduled attempts that failed: the position in the retry schedule
--   trigger        what the next attempt is to be logged as
--   claimed        a worker is sending it; its result alone may settle it
--   due_at         when the next attempt is due; null once settled
--   sweep_at       when the sweeper takes it for forgotten: no job came for it, or its worker is gone
create table deliveries (
  delivery_id uuid primary key,
  event_id uuid not null,
  webhook_id uuid not null,
  state text not null,
  status text not null check (status in ('PENDING', 'HELD', 'SUCCEEDED', 'FAILED', 'CANCELLED')),
  reason text,
  attempt_count integer not null default 0,
  failure_count integer not null default 0,
  trigger text not null default 'SCHEDULED',
  claimed boolean not null default false,
  due_at timestamptz,
  sweep_at timestamptz,
  completed_at timestamptz
) partition by range (delivery_id);
create index deliveries_log on deliveries (webhook_id, delivery_id);
create index deliveries_open on deliveries (webhook_id, delivery_id) where status in ('PENDING', 'HELD');
create index deliveries_ended_badly on deliveries (webhook_id, delivery_id) where status in ('FAILED', 'CANCELLED');
create index deliveries_to_sweep on deliveries (sweep_at) where status = 'PENDING';

-- Every attempt started. Without duration its outcome is unknown: the worker was gone before it could tell.
create table attempts (
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

-- The first UUIDv7 of a moment: the bounds of a day's partition and of every search by time.
create function uuid_floor(moment timestamptz) returns uuid
language sql immutable parallel safe
return (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

-- Makes the log's partitions for the days from first_day to last_day (UTC) that are not there yet.
create function make_log_partitions(first_day date, last_day date) returns void
language plpgsql as $$
declare
  day date;
  parent text;
begin
  for day in select generate_series(first_day, last_day, '1 day')::date loop
    foreach parent in array array['deliveries', 'attempts'] loop
      if to_regclass(format('%s_%s', parent, to_char(day, 'YYYYMMDD'))) is null then
        execute format(
          'create table %I partition of %I for values from (%L) to (%L) with (fillfactor = 80)',
          parent || '_' || to_char(day, 'YYYYMMDD'), parent,
          uuid_floor(day::timestamp at time zone 'UTC'), uuid_floor((day + 1)::timestamp at time zone 'UTC')
        );
      end if;
    end loop;
  end loop;
end $$;
