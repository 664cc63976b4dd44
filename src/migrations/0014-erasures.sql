-- Up Migration

-- The shipment whose personal data was erased.
alter table audit add column shipment_id uuid;

-- Erasures that are committed and of which what is owed is still to be looked at once more, by whoever began them or,
-- if he is gone, by a worker.
create table erasures_under_way (shipment_id uuid primary key);
