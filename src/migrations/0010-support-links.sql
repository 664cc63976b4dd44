-- Links by which the operator opens a shipper's portal, read-only; one that was opened is its session.
--   token_hash    SHA-256; the link itself is not stored
--   operator      the name of the token that made it
--   expires_at    until when it can be opened
--   session_hash  SHA-256 of the session's cookie
--   ends_at       when the session ends
create table support_links (
  token_hash bytea primary key,
  shipper_id uuid not null references shippers on delete cascade,
  operator text not null,
  expires_at timestamptz not null,
  session_hash bytea unique,
  opened_at timestamptz,
  ends_at timestamptz
);
create index support_links_of_shipper on support_links (shipper_id, opened_at);
