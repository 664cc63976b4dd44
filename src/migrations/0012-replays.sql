-- Up Migration

-- A replay is over when nothing that it has set going is owed any more.
--   from_at, to_at  the span as it was asked for; null of those asked for by an earlier version
--   total           what it found to send; null until that is known
--   done            what it has set going, less what was taken back; of that, what the outbox has under its id is not settled
--   walked_at       when it had found all
--   withdrawing     it is cancelled, and the outbox may hold something of it still
alter table replays
  add column from_at timestamptz,
  add column to_at timestamptz,
  add column created_at timestamptz not null default now(),
  add column walked_at timestamptz,
  add column withdrawing boolean not null default false,
  alter column total drop not null;
create index replays_newest on replays (webhook_id, replay_id);
drop index if exists replays_of_webhook, replays_by_webhook;
create index replays_withdrawing on replays (replay_id) where withdrawing;

--   only_replayed  it is owed because of its replay and for no other reason
--   withdrawn      its replay is cancelled: it is not sent any more, and leaves when no attempt of it is under way
--   scheduled_at   when its retry was due before a replay hastened it
-- A claim changes none of them, nor what the index mentions.
alter table outbox
  add column only_replayed boolean not null default false,
  add column withdrawn boolean not null default false,
  add column scheduled_at timestamptz;
create index outbox_replayed on outbox (replay_id, delivery_id) where replay_id is not null;
