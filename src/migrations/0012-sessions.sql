-- Sessions of the portal that may be valid, as their users see them and end them one by one. Their tokens are not stored.
--   user_epoch    that of its token: once the user has another one, the session has ended
--   browser       a short name, such as Chrome on Linux
--   last_used_at  up to ten minutes behind
--   expires_at    when its latest token has expired for certain
--   ends_at       when it ends, however much it is used
create table sessions (
  session_id uuid primary key,
  user_id uuid not null references users on delete cascade,
  user_epoch integer not null,
  browser text not null,
  started_at timestamptz not null,
  last_used_at timestamptz not null default now(),
  expires_at timestamptz not null,
  ends_at timestamptz not null
);
create index sessions_of_user on sessions (user_id, started_at);
