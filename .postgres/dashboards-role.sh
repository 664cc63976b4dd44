# Run by the image of PostgreSQL when the database is made, and by hand where it is older: Grafana's role, which reads
# the views of the schema "dashboards" and nothing else, whenever they are made.
psql --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "${POSTGRES_DB:-$POSTGRES_USER}" <<'SQL'
\getenv password POSTGRES_DASHBOARDS_PASSWORD
do $$
begin
  if not exists (select from pg_roles where rolname = 'parcelhook_dashboards') then
    create role parcelhook_dashboards;
  end if;
end $$;
alter role parcelhook_dashboards login password :'password' connection limit 5;
alter role parcelhook_dashboards set default_transaction_read_only = on;
alter role parcelhook_dashboards set statement_timeout = '5s';
create schema if not exists dashboards;
grant usage on schema dashboards to parcelhook_dashboards;
grant select on all tables in schema dashboards to parcelhook_dashboards;
alter default privileges in schema dashboards grant select on tables to parcelhook_dashboards;
SQL
