-- How fast a webhook's owner allows it to be called.

--   max_per_second  attempts that may begin in a second, of all workers together; null: no limit
alter table webhooks add column max_per_second integer check (max_per_second between 1 and 1000);

-- The webhooks with a limit that are owed something, or were.
--   next_at  the next start that may be drawn; those before it are drawn, or have passed unused
--   drawn    how many were drawn last, `step` apart
create table webhook_starts (
  webhook_id uuid primary key,
  next_at timestamptz not null,
  drawn integer not null,
  step interval not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
