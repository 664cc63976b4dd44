-- Up Migration

-- A shipper's shipments, newest first: their ids are ordered by the time of their acceptance.
create index shipments_of_shipper on shipments (shipper_id, shipment_id);

-- The same by the shipper's own identifier, of which an entry of an index does not hold every length.
create index shipments_by_own_id on shipments (shipper_id, left(shipper_tracking_id, 500) collate "C", shipment_id);

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
