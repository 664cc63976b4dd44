-- When a webhook's secret was last rotated; null: it is the first one. The audit log is read before the table is locked.
create temporary table last_rotations on commit drop as
  select webhook_id, max(at) as at from audit where action = 'WEBHOOK_SECRET_ROTATED' group by webhook_id;
alter table webhooks add column secret_rotated_at timestamptz;
update webhooks w set secret_rotated_at = l.at from last_rotations l where w.webhook_id = l.webhook_id;
