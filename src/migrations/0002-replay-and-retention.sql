-- Up Migration

-- An attempt outside the retry schedule (MANUAL, TEST). It leaves status, due_at and failure_count alone until its
-- result is there.
--   manual_requested_at  when it was asked for; null once it is over
--   manual_lease_until   while it is under way (claimed is true then, and sweep_at null): when it is taken for lost
alter table deliveries
  add column manual_requested_at timestamptz,
  add column manual_lease_until timestamptz;
create index deliveries_manual on deliveries (webhook_id, manual_requested_at) where manual_requested_at is not null;

-- A replay walks over the shipper's events in the order in which they were recorded.
create index events_by_shipper on events (shipper_id, event_id);

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
