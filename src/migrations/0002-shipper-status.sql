-- Up Migration

alter table shippers
  add column status text not null default 'ACTIVE' check (status in ('ACTIVE', 'SUSPENDED', 'REMOVED'));
