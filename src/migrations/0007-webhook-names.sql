-- What its owner's programs know a webhook by: none, or the only one of the shipper's that are not deleted.
alter table webhooks add column name text;
create unique index webhooks_by_name on webhooks (shipper_id, name) where name is not null and deleted_at is null;
