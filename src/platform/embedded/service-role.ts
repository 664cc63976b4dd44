/** Whom the service logs in as; it owns the database and what is in it, and nothing else of the server. */
export const serviceRole = 'parcelhook_service';

/** The statements that make the role, in one transaction, and give it the database. Harmless where that is done. */
export const makeServiceRole = (database: string, password: string): string => `
  begin;
  select pg_advisory_xact_lock(hashtext('parcelhook-service-role'));
  do $$
  begin
    if not exists (select from pg_roles where rolname = '${serviceRole}') then
      create role ${serviceRole};
    end if;
    alter role ${serviceRole} login nosuperuser nocreatedb nocreaterole password '${password}';
    alter database ${database} owner to ${serviceRole};
  end $$;
  commit`;
