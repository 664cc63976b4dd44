-- Tokens of a shipper's programs. Expired ones stay until they are revoked, or others need their room.
--   token_hash    SHA-256; the token itself is not stored
--   webhook_id    the only webhook that it may be used for; null: every one
--   last_used_on  the last day (UTC) on which it was used; null: never
create table program_tokens (
  token_id uuid primary key,
  shipper_id uuid not null references shippers on delete cascade,
  token_hash bytea not null unique,
  name text not null,
  scopes text[] not null,
  webhook_id uuid,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_on date
);
create index program_tokens_of_shipper on program_tokens (shipper_id, token_id);

alter table audit add column token_id uuid;
