-- Up Migration

-- Since when a delivery waits its turn with nothing else in its way: ORDER_HOLD counts from here. While its webhook is
-- not called the count stands still: turn_waited is how far it was.
alter table deliveries add column turn_waited_since timestamptz, add column turn_waited interval;

-- When the webhook was last stopped: what was asked for by hand before that is not sent any more.
alter table webhooks add column stopped_at timestamptz;
update webhooks set stopped_at = updated_at where status <> 'ACTIVE';

-- Makes the log's partitions for the days from first_day to last_day (UTC) that are not there yet. A partition is
-- made first and attached then: that lock lets everybody go on, that of "create table ... partition of" nobody.
create or replace function make_log_partitions(first_day date, last_day date) returns void
language plpgsql as $$
declare
  day date;
  parent text;
  partition text;
begin
  for day in select generate_series(first_day, last_day, '1 day')::date loop
    foreach parent in array array['deliveries', 'attempts'] loop
      partition := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
      if to_regclass(partition) is null then
        execute format('create table %I (like %I including all) with (fillfactor = 80)', partition, parent);
        execute format(
          'alter table %I attach partition %I for values from (%L) to (%L)', parent, partition,
          uuid_floor(day::timestamp at time zone 'UTC'), uuid_floor((day + 1)::timestamp at time zone 'UTC')
        );
      end if;
    end loop;
  end loop;
end $$;
