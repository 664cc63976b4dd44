-- Up Migration

-- When the personal data of a shipment was erased. It guards its changes as sequence does: who has read the shipment
-- before cannot record what it knows from then.
alter table shipment_progress add column erased_at timestamptz;

-- Null of nearly all. DONE: its personal data was erased, it is not sent any more. AFTER: recorded after its shipment's
-- personal data was erased; it is sent as any other, but what receivers answer is not kept.
alter table events add column erasure text;

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

-- When nothing of a removed shipper was found any more.
alter table shippers add column emptied_at timestamptz;
create index shippers_removed on shippers (shipper_id) where status = 'REMOVED';

-- What is deleted with a user and with a webhook.
create index if not exists password_links_by_user on password_links (user_id);
create index if not exists replays_by_webhook on replays (webhook_id);
