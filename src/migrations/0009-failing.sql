-- When a webhook fails, and what its owner was told of it.

--   last_failure  the status of the last failure's response, or its error code
--   told          of this failing: 0 nothing, 1 that it fails, 2 and 3 when it will be disabled, 72 and 24 hours before
alter table circuits add column last_failure text, add column told smallint not null default 0;
update circuits set told = 1 where open_until is not null;

-- Deliveries whose retries are used up, until their webhook's owner is told.
create table exhausted_deliveries (
  webhook_id uuid not null,
  delivery_id uuid not null,
  shipment_id uuid not null,
  primary key (webhook_id, delivery_id)
);

--   exhausted_told_at  when its owner was last told of such
alter table webhooks add column exhausted_told_at timestamptz;
