-- The processes that run. Each renews its row every half a minute, and deletes it as it stops.
--   commit  that it was built from; null if that is not known
create table processes (
  process_id uuid primary key,
  role text not null,
  host text not null,
  version text not null,
  commit text,
  started_at timestamptz not null,
  seen_at timestamptz not null
) with (fillfactor = 50);
