-- Up Migration

-- Where users logged in from lately: guesses from elsewhere do not lock them out there. origin is a keyed hash of the
-- account and the address.
create table login_origins (
  user_id uuid not null references users on delete cascade,
  origin text not null,
  seen_at timestamptz not null,
  primary key (user_id, origin)
);

-- A shipper's webhooks without those that are deleted: every look at them passes over any number of these.
-- Beside an index over all of them it is not always the one that is taken, so that one goes.
create index webhooks_of_shipper on webhooks (shipper_id, webhook_id) where deleted_at is null;
drop index webhooks_by_shipper;
-- Those are walked over, to be purged when the log has let go of them.
create index webhooks_deleted on webhooks (webhook_id) where deleted_at is not null;
create index replays_of_webhook on replays (webhook_id);
