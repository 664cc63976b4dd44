-- Up Migration

-- Open means completed_at is null. The status is no longer part of the index's condition: a statement that names
-- deliveries by id and wants the pending ones must not be led through the index of everything that is open. It is a
-- column instead: what is pending must not be looked for among a hundred thousand held ones.
drop index deliveries_open;
create index deliveries_open on deliveries (webhook_id, status, delivery_id) where completed_at is null;

-- The log: each delivery is in one of three indexes, open, succeeded or ended badly, and in the one of its state.
drop index deliveries_log;
drop index deliveries_ended_badly;
create index deliveries_ended_badly on deliveries (webhook_id, status, delivery_id)
  where status in ('FAILED', 'CANCELLED');
create index deliveries_succeeded on deliveries (webhook_id, delivery_id) where status = 'SUCCEEDED';
create index deliveries_by_state on deliveries (webhook_id, state, delivery_id);
