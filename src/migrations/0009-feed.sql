-- Up Migration

-- One row: what the feed's cursors belong to. A dump bears it along; restored, the table has another oid or the server
-- another identifier, which tells that it was. Then epoch is renewed, and first_position leaves room for all positions
-- that any server has ever given.
create table feed (
  is_only boolean primary key default true check (is_only),
  epoch uuid not null,
  first_position bigint not null,
  system_identifier bigint not null,
  relation oid not null
);
insert into feed (epoch, first_position, system_identifier, relation)
select gen_random_uuid(), 0, system_identifier, 'feed'::regclass from pg_control_system();

-- The place of what this transaction records.
create function feed_position() returns bigint
language sql stable
return (select first_position + pg_current_xact_id()::text::bigint from feed);

-- The place of an event in the feed; events of one commit share it and are ordered by their ids. What was there before
-- comes first. Processes of the version before do not name it, hence the default.
alter table events add column position bigint not null default 0;
alter table events alter column position set default feed_position();
create index events_by_position on events (shipper_id, position, event_id) where shipment_id is not null;
