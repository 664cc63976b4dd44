-- E-mails that are owed, and for an hour those that were. A row has no link, which is made when the mail is sent, and
-- the address that was asked for only until its user is looked up.
create table mails (
  mail_id uuid primary key,
  kind text not null,
  -- Its recipient; null while nobody has looked whether the user that was asked for exists.
  user_id uuid references users on delete cascade,
  -- What the kind needs to be written.
  parameters jsonb not null default '{}',
  created_at timestamptz not null default now(),
  -- When it is tried next; null: it has ended.
  next_try_at timestamptz default now(),
  attempts integer not null default 0
);
create index mails_to_try on mails (next_try_at) where next_try_at is not null;
create index mails_owed on mails (created_at) where next_try_at is not null;
create index mails_by_user on mails (user_id, created_at);
