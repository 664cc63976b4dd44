-- The first UUIDv7 of a moment: the bounds of a day's partition and of every search by time.
create function uuid_floor(moment timestamptz) returns uuid
language sql immutable parallel safe
return (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

-- The id of a delivery follows from its event and webhook: the same pair can never be owed twice. It keeps
-- the time-ordered half of the event's UUIDv7, so it orders the log, cuts it into days and finds all
-- deliveries of an event as one range of the primary key.
create function delivery_id(event_id uuid, webhook_id uuid) returns uuid
language sql immutable parallel safe
return overlay(
  md5(event_id::text || webhook_id::text)
  placing left(replace(event_id::text, '-', ''), 16) || '8' from 1 for 17
)::uuid;

-- Accounts: who sends parcels, and who may speak for them.
--   epoch               a token bears those of its user and shipper; an older one is void
--   previous_key_until  after a rotation, how long the account key before is good
--   emptied_at          when nothing of a removed shipper was found any more
create table shippers (
  shipper_id uuid primary key,
  name text not null,
  account_key_hash bytea not null unique,
  created_at timestamptz not null default now(),
  status text not null default 'ACTIVE' check (status in ('ACTIVE', 'SUSPENDED', 'REMOVED')),
  epoch integer not null default 0,
  previous_key_hash bytea,
  previous_key_until timestamptz,
  emptied_at timestamptz
);
create unique index shippers_by_previous_key on shippers (previous_key_hash) where previous_key_hash is not null;
create index shippers_removed on shippers (shipper_id) where status = 'REMOVED';

create table users (
  user_id uuid primary key,
  shipper_id uuid not null references shippers,
  email text not null,
  password_hash text,
  created_at timestamptz not null default now(),
  epoch integer not null default 0,
  unique (shipper_id, email)
);

create table password_links (
  token_hash bytea primary key,
  user_id uuid not null references users,
  expires_at timestamptz not null
);
create index password_links_by_user on password_links (user_id);

-- Sessions of the portal that their users ended, until their cookies would have expired anyway.
create table ended_sessions (
  user_id uuid not null references users on delete cascade,
  session_id uuid not null,
  expires_at timestamptz not null,
  primary key (user_id, session_id)
);

-- Where users logged in from lately: guesses from elsewhere do not lock them out there. origin is a keyed hash of the
-- account and the address.
create table login_origins (
  user_id uuid not null references users on delete cascade,
  origin text not null,
  seen_at timestamptz not null,
  primary key (user_id, origin)
);

-- Who changed which account, webhook or secret, or erased which shipment, when, from which address; and who was
-- refused, counted by the minute. Ids and names of fields only: no secret, and of a person no more than the user's id.
-- address is an address block where it is a stranger's.
create table audit (
  audit_id uuid primary key
    default (left(uuid_floor(date_trunc('milliseconds', now()))::text, 14) || right(gen_random_uuid()::text, 22))::uuid,
  at timestamptz not null default now(),
  action text not null,
  outcome text not null check (outcome in ('DONE', 'REFUSED')),
  actor_kind text not null,
  actor text,
  address text,
  shipper_id uuid,
  user_id uuid,
  webhook_id uuid,
  fields text[] not null default '{}',
  count integer not null default 1,
  shipment_id uuid
);
create index audit_by_shipper on audit (shipper_id, audit_id) where shipper_id is not null;

create function refuse_audit_change() returns trigger
language plpgsql as $$
begin
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_is_append_only before update or truncate on audit
  for each statement execute function refuse_audit_change();
-- Lines go with AUDIT_RETENTION, which is no shorter than this.
create trigger audit_keeps_lines before delete on audit
  for each row when (old.at > now() - interval '30 days') execute function refuse_audit_change();

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
-- A shipper's shipments, newest first: their ids are ordered by the time of their acceptance.
create index shipments_of_shipper on shipments (shipper_id, shipment_id);
-- The same by the shipper's own identifier, of which an entry of an index does not hold every length.
create index shipments_by_own_id on shipments (shipper_id, left(shipper_tracking_id, 500) collate "C", shipment_id);

-- Orders whose shipment is still to be created.
--   trace  the span that accepted it, of its request's trace: 16 bytes of the trace's id, 8 of the span's
create table orders_to_create (
  shipment_id uuid primary key,
  trace bytea
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, vacuum_truncate = off);

create table idempotency_keys (
  shipper_id uuid not null,
  key text not null,
  body_hash bytea not null,
  shipment_id uuid not null,
  created_at timestamptz not null,
  primary key (shipper_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Where a shipment is. Its row comes with its first state.
--   sequence        counts its events and guards every change (optimistic concurrency)
--   erased_at       when its personal data was erased. It guards changes, too: who has read the shipment before cannot
--                   record what it knows from then
--   first_event_id  no event of it has an id before this one, nor after last_event_id: they are looked for in the
--                   months between
create table shipment_progress (
  shipment_id uuid primary key,
  shipper_id uuid not null,
  state text not null,
  sequence integer not null,
  updated_at timestamptz not null,
  erased_at timestamptz,
  first_event_id uuid not null default '00000000-0000-0000-0000-000000000000',
  last_event_id uuid not null default 'ffffffff-ffff-ffff-ffff-ffffffffffff'
) with (fillfactor = 70);

-- Journeys that a worker takes shipments through, one at a time each (SIMULATE). A row goes with its last state.
--   simulation_id  names its events: a state that was recorded and not counted, for its worker was gone, is recorded once
--   step           states it has been through
--   next_at        when it comes to the next one
create table simulations (
  shipment_id uuid primary key,
  shipper_id uuid not null,
  simulation_id uuid not null,
  states text[] not null,
  step integer not null default 0,
  interval_ms integer not null,
  next_at timestamptz not null default now()
);
create index simulations_of_shipper on simulations (shipper_id, shipment_id);
create index simulations_to_advance on simulations (next_at);

-- One row: what the feed's cursors belong to. A dump bears it along; restored, the table has another oid or the server
-- another identifier. A standby that was promoted, or a backup that was rolled forward, has another timeline: it gives
-- the ids of transactions again that it had not heard of. Any of them tells that epoch is to be renewed; first_position
-- then leaves room for all positions that any server has ever given.
create table feed (
  is_only boolean primary key default true check (is_only),
  epoch uuid not null,
  first_position bigint not null,
  system_identifier bigint not null,
  relation oid not null,
  timeline text not null
);
insert into feed (epoch, first_position, system_identifier, relation, timeline)
select gen_random_uuid(), 0, system_identifier, 'feed'::regclass, left(pg_walfile_name(pg_current_wal_lsn()), 8)
  from pg_control_system();

-- The place of what this transaction records.
create function feed_position() returns bigint
language sql stable
return (select first_position + pg_current_xact_id()::text::bigint from feed);

-- What happened to shipments, for ever: the tracking history. A partition a month (UTC), by the time in the id; there is
-- one event for each sequence of a shipment because shipment_progress.sequence guards every change.
--   shipment_id  null for notifications that belong to no shipment (tests, notices)
--   body         the notification, the same bytes on every attempt
--   erasure      null of nearly all. DONE: its personal data was erased, it is not sent any more. AFTER: recorded after
--                its shipment's personal data was erased; it is sent as any other, but what receivers answer is not kept
--   position     its place in the feed; events of one commit share it and are ordered by their ids
--   trace        the span that recorded it, as in orders_to_create; null for notifications that belong to no shipment
create table events (
  event_id uuid not null,
  external_id text,
  shipper_id uuid not null,
  shipment_id uuid,
  sequence integer not null,
  state text not null,
  recorded_at timestamptz not null,
  body text not null,
  erasure text,
  position bigint not null default feed_position(),
  trace bytea
) partition by range (event_id);
-- In this order: of a month that was vacuumed while it was empty the planner knows no difference, and takes the index
-- that was made last.
create index events_by_position on events (shipper_id, position, event_id) where shipment_id is not null;
-- A replay walks over the shipper's events in the order in which they were recorded.
create index events_by_shipper on events (shipper_id, event_id);
alter table events add primary key (event_id);
create index events_by_shipment on events (shipment_id, sequence) where shipment_id is not null;

-- An event of any month. A statement that may need one in a hundred times, and names the months that it needs always,
-- calls this instead of holding every month ready.
create function event_of_any_month(id uuid) returns setof events
language plpgsql stable rows 1 as $$
begin
  return query select * from events where event_id = id;
end $$;

-- The ids that callers gave their events, as long as the log is kept: an event sent twice is known by them.
create table external_ids (
  external_id text primary key,
  event_id uuid not null,
  shipment_id uuid not null,
  state text not null
);
create index external_ids_by_event on external_ids (event_id);

-- A webhook that is deleted stays for the log.
--   revision      counts its changes: who sends keeps what he knows of a webhook until the number moves
--   stopped_at    when it was last paused, disabled or deleted: what was asked for by hand before is not sent any more
--   called_since  when it was last resumed, or its circuit closed: ORDER_HOLD counts from there at the earliest
--   suspended     its shipper is. It stands here because claims read this row anyway
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
  called_since timestamptz,
  suspended boolean not null default false
) with (fillfactor = 80);
-- A shipper's webhooks without those that are deleted: every look at them passes over any number of these.
create index webhooks_of_shipper on webhooks (shipper_id, webhook_id) where deleted_at is null;
-- Those that are not called, whatever is owed to them.
create index webhooks_uncalled on webhooks (webhook_id)
 where deleted_at is null and (status <> 'ACTIVE' or suspended);
-- Those are walked over, to be purged when the log has let go of them.
create index webhooks_deleted on webhooks (webhook_id) where deleted_at is not null;

-- One row from the first start on: a value sealed with SECRETS_KEY. A process that cannot open it lacks the key to all
-- that webhooks keep sealed, and does not start.
create table key_check (
  is_only boolean primary key default true check (is_only),
  sealed text not null
);

-- One row for a webhook that has failed lately; without a row its circuit is closed and nothing is wrong.
--   attempts, failures   counted since window_started_at, for at most a minute
--   failing_since        the first failure since the last success
--   open_until           null while closed; from then on one probe at a time is let through
--   open_wait            how long it was to stay open then: it never does longer, even if the clock is put back
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
  open_wait interval,
  times_opened integer not null default 0,
  probe_until timestamptz
) with (fillfactor = 50);

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
--   replay_id        the replay that owes it; nobody claims it once that is cancelled
--   only_replayed    it is owed because of its replay and for no other reason
--   scheduled_at     when its retry was due before a replay hastened it
--   retry_wait       how long after its last failure its retry was due; null if none was scheduled. What lies further ahead
--                    than that was scheduled before the clock was put back
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
  only_replayed boolean not null default false,
  scheduled_at timestamptz,
  retry_wait interval,
  primary key (shipper_id, delivery_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 50000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
create index outbox_due on outbox (webhook_id, due_at) where due_at is not null;
create index outbox_by_shipment on outbox (webhook_id, shipment_id, sequence);
create index outbox_waiting on outbox (webhook_id, shipment_id, sequence) where waits_turn;
create index outbox_replayed on outbox (replay_id, delivery_id) where replay_id is not null;

-- The log: what is finished, with its last attempt. Written once; an attempt by hand replaces the last one, a replay
-- takes a failed one back into the outbox.
--   reason           why it was cancelled, or failed before its retries were used up
--   duration_ms      null where the outcome of the attempt is unknown: its worker was gone before it could tell
--   dns_ms …         of the time, each phase's own: null where there was none, or where it did not end
--   remote_address   the receiver's, or the last one that was tried
--   response_headers a line each, the frequent ones as letters (send/response-headers.ts), at most 4 KiB
--   request_headers  what of them cannot be told by the row and its event: the attempt's number, the program's version,
--                    the host, the names of the webhook's own headers and the signatures. Null where no request went
--                    out, or where that is not known
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
  dns_ms integer,
  connect_ms integer,
  tls_ms integer,
  first_byte_ms integer,
  status_code integer,
  remote_address inet,
  error_code text,
  error_detail text,
  response_body text,
  response_headers text,
  request_headers text,
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
  dns_ms integer,
  connect_ms integer,
  tls_ms integer,
  first_byte_ms integer,
  status_code integer,
  remote_address inet,
  error_code text,
  error_detail text,
  response_body text,
  response_headers text,
  request_headers text,
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

-- Catching up on what a webhook missed, piece by piece. A replay is over when nothing that it has set going is owed
-- any more.
--   last_event_id   how far it is
--   end_event_id    the events before are its range
--   total           what it found to send; null until that is known
--   done            what it has set going, less what was taken back; of that, what the outbox has under its id is not settled
--   from_at, to_at  the span as it was asked for
--   walked_at       when it had found all
--   withdrawing     it is cancelled, and the outbox may hold something of it still
--   setbacks        pieces that failed, less those that were made since: each halves the next piece
--   kind            ASKED: somebody asked for it. PARKED: its webhook was not called and was owed so much that what it
--                   misses from then on makes no rows, until it is called again and this has come to its end. A
--                   statement that records locks the row in share, and its end excludes such statements
--   last_position   of a parked one, how far it is in the feed, with last_event_id
create table replays (
  replay_id uuid primary key,
  webhook_id uuid not null references webhooks,
  shipper_id uuid not null,
  shipment_id uuid,
  delivery_status text,
  last_event_id uuid not null,
  end_event_id uuid not null,
  total integer,
  done integer not null default 0,
  status text not null default 'RUNNING' check (status in ('RUNNING', 'DONE', 'CANCELLED')),
  next_at timestamptz not null default now(),
  finished_at timestamptz,
  from_at timestamptz,
  to_at timestamptz,
  created_at timestamptz not null default now(),
  walked_at timestamptz,
  withdrawing boolean not null default false,
  setbacks integer not null default 0,
  kind text not null default 'ASKED' check (kind in ('ASKED', 'PARKED')),
  last_position bigint
);
create index replays_to_advance on replays (next_at) where status = 'RUNNING' and kind = 'ASKED';
create unique index replays_parked on replays (shipper_id, webhook_id) where status = 'RUNNING' and kind = 'PARKED';
create index replays_to_unpark on replays (next_at) where status = 'RUNNING' and kind = 'PARKED';
create index replays_newest on replays (webhook_id, replay_id);
-- Those that look for deliveries, or of which the outbox may hold something.
create index replays_open on replays (shipper_id, webhook_id) where status = 'RUNNING' or withdrawing;
create index replays_withdrawing on replays (replay_id) where withdrawing;

-- Attempts that ended, tests left out, counted by the statement that wrote them into the log: one row for each webhook
-- and hour of it. Rows are only added, so nobody waits for another, and soon folded into webhook_hours.
--   hour          in which they began
--   durations_ms  of those whose outcome is known; null without any
create table attempt_counts (
  webhook_id uuid not null,
  hour timestamptz not null,
  succeeded integer not null,
  failed integer not null,
  durations_ms integer[]
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 50000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
create index attempt_counts_by_webhook on attempt_counts (webhook_id);

-- Their sums: what a webhook's attempts of an hour came to, without what is not folded yet.
--   p50_ms, p95_ms   what half of the durations, and 95 % of them, do not exceed; null without any
--   durations_ms     which durations there were, rounded, the shortest first
--   duration_counts  how often there was each
create table webhook_hours (
  webhook_id uuid not null,
  hour timestamptz not null,
  succeeded integer not null,
  failed integer not null,
  p50_ms integer,
  p95_ms integer,
  durations_ms integer[] not null,
  duration_counts integer[] not null,
  primary key (webhook_id, hour)
) with (fillfactor = 50);
create index webhook_hours_by_age on webhook_hours (hour);

-- How far the retention has looked at shipments, in the order of their acceptance: all before had their last state
-- longer ago than it, or wait in shipments_to_erase.
create table erasure_walk (
  is_only boolean primary key default true check (is_only),
  last_shipment_id uuid not null
);
insert into erasure_walk (last_shipment_id) values ('00000000-0000-0000-0000-000000000000');

-- Shipments that were accepted longer ago than the retention and had their last state since, as it was known.
create table shipments_to_erase (
  shipment_id uuid primary key,
  last_state_at timestamptz not null
);
create index shipments_to_erase_by_age on shipments_to_erase (last_state_at);

-- Committed erasures whose owed deliveries must be checked once more: by the process that began the erasure or, if it
-- has died, by a worker.
create table erasures_under_way (shipment_id uuid primary key);

-- Makes the log's partitions for the days from first_day to last_day (UTC), and those of events for their months, that
-- are not there yet. A partition is made first and attached then: that lock lets everybody go on, that of "create table
-- ... partition of" nobody.
-- Where the service's role owns no table (MIGRATION_DATABASE_URL), it makes and drops partitions by these two
-- functions, which run as their owner.
create function make_log_partitions(first_day date, last_day date) returns void
language plpgsql security definer as $$
declare
  parent text;
  partition text;
  since timestamp;
  until timestamp;
begin
  for parent, partition, since, until in
    select t.parent, t.parent || to_char(day, '_YYYYMMDD'), day, day + interval '1 day'
      from generate_series(first_day::timestamp, last_day::timestamp, '1 day') day, unnest(array['deliveries', 'attempts']) as t (parent)
    union all
    select 'events', 'events' || to_char(month, '_YYYYMM'), month, month + interval '1 month'
      from generate_series(date_trunc('month', first_day::timestamp), last_day::timestamp, '1 month') month
  loop
    if to_regclass(partition) is null then
      execute format('create table %I (like %I including all)', partition, parent);
      execute format(
        'alter table %I attach partition %I for values from (%L) to (%L)', parent, partition,
        uuid_floor(since at time zone 'UTC'), uuid_floor(until at time zone 'UTC')
      );
    end if;
  end loop;
end $$;

create function drop_log_day(day text) returns void
language plpgsql security definer as $$
begin
  if day !~ '^[0-9]{8}$' then raise '% is not a day', day; end if;
  execute format('drop table if exists %I, %I', 'attempts_' || day, 'deliveries_' || day);
end $$;

-- What they name is found in this schema only. Those who may are told so by the process that migrates.
do $$
begin
  execute format('alter function make_log_partitions(date, date) set search_path = %I, pg_temp', current_schema());
  execute format('alter function drop_log_day(text) set search_path = %I, pg_temp', current_schema());
end $$;
revoke execute on function make_log_partitions(date, date), drop_log_day(text) from public;

-- What the dashboard Tenants shows, for a role that may read nothing else: numbers by the shipper's id. No name, address or
-- other word of anybody, and nothing secret. What no column of a query needs is not read.
--   owed                counted up to 1,000
--   oldest_due_seconds  how long the oldest delivery has been due, whether its webhook may be called or not
--   attempts_24h        attempts of the last 24 hours and the one under way, tests left out; failed_24h of them failed
create schema if not exists dashboards;
create view dashboards.tenants with (security_barrier) as
select s.shipper_id, s.status, coalesce(w.webhooks, 0) as webhooks, coalesce(w.paused, 0) as paused,
       coalesce(w.disabled, 0) as disabled, coalesce(w.circuits_open, 0) as circuits_open,
       (select count(*)::int from (select from outbox o where o.shipper_id = s.shipper_id limit 1000) o) as owed,
       d.oldest_due_seconds, coalesce(a.attempts, 0) as attempts_24h, coalesce(a.failed, 0) as failed_24h,
       coalesce(p.orders, 0) as orders_10m
  from shippers s
  left join (
    select w.shipper_id, count(*)::int as webhooks, count(*) filter (where w.status = 'PAUSED')::int as paused,
           count(*) filter (where w.status = 'DISABLED')::int as disabled,
           count(*) filter (where c.open_until is not null)::int as circuits_open
      from webhooks w left join circuits c using (webhook_id)
     where w.deleted_at is null group by w.shipper_id) w using (shipper_id)
  left join (
    select w.shipper_id, extract(epoch from now() - min(o.due_at))::float8 as oldest_due_seconds
      from webhooks w cross join lateral (
        select due_at from outbox
         where webhook_id = w.webhook_id and due_at <= now() and status <> 'SENDING'
         order by due_at limit 1) o
     where w.deleted_at is null group by w.shipper_id) d using (shipper_id)
  left join (
    select w.shipper_id, sum(h.succeeded + h.failed)::int as attempts, sum(h.failed)::int as failed
      from webhook_hours h join webhooks w using (webhook_id)
     where h.hour > now() - interval '25 hours' group by w.shipper_id) a using (shipper_id)
  left join (
    select shipper_id, count(*)::int as orders from shipments
     where shipment_id >= uuid_floor(now() - interval '10 minutes') group by shipper_id) p using (shipper_id)
 where s.status <> 'REMOVED';
