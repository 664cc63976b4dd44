-- Up Migration

-- Where the service's role owns no table (MIGRATION_DATABASE_URL), it makes and drops the log's partitions by these
-- functions, which run as whoever owns them. What they name is found in this schema only.
create function drop_log_day(day text) returns void
language plpgsql security definer as $$
begin
  if day !~ '^[0-9]{8}$' then raise '% is not a day', day; end if;
  execute format('drop table if exists %I, %I', 'attempts_' || day, 'deliveries_' || day);
end $$;

alter function make_log_partitions(date, date) security definer;

do $$
begin
  execute format('alter function make_log_partitions(date, date) set search_path = %I, pg_temp', current_schema());
  execute format('alter function drop_log_day(text) set search_path = %I, pg_temp', current_schema());
end $$;

-- Those who may are told so by the process that migrates.
revoke execute on function make_log_partitions(date, date), drop_log_day(text) from public;
