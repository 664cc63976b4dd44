-- When a webhook's secret was last rotated; null: it is the first one.
alter table webhooks add column secret_rotated_at timestamptz;
update webhooks w set secret_rotated_at = a.at
  from (select webhook_id, max(at) as at from audit where action = 'WEBHOOK_SECRET_ROTATED' group by webhook_id) a
 where w.webhook_id = a.webhook_id;
