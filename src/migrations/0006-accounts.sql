-- Up Migration

-- What ends a token before its time: it bears the epochs of its user and shipper, and an older one is void. After a
-- rotation the account key before it is good until previous_key_until.
alter table shippers
  add column epoch integer not null default 0,
  add column previous_key_hash bytea,
  add column previous_key_until timestamptz;
create unique index shippers_by_previous_key on shippers (previous_key_hash) where previous_key_hash is not null;

alter table users add column epoch integer not null default 0;

create index password_links_by_user on password_links (user_id);

-- Its shipper is suspended. It stands here because claims read this row anyway.
alter table webhooks add column suspended boolean not null default false;

-- Who changed which account, webhook or secret, when, from which address; and who was refused, counted by the minute.
-- Ids and names of fields only: no secret, and of a person no more than the id of the user.
create table audit (
  audit_id uuid primary key
    default (left(uuid_floor(date_trunc('milliseconds', now()))::text, 14) || right(gen_random_uuid()::text, 22))::uuid,
  at timestamptz not null default now(),
  action text not null,
  outcome text not null check (outcome in ('DONE', 'REFUSED')),
  actor_kind text not null,
  actor text,
  address text,
  shipper_id uuid,
  user_id uuid,
  webhook_id uuid,
  fields text[] not null default '{}',
  count integer not null default 1
);
create index audit_by_shipper on audit (shipper_id, audit_id) where shipper_id is not null;

create function refuse_audit_change() returns trigger
language plpgsql as $$
begin
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_is_append_only before update or delete or truncate on audit
  for each statement execute function refuse_audit_change();
