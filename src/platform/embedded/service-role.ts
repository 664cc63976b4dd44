/** Whom the service logs in as; it owns the database and what is in it, and nothing else of the server. */
export const serviceRole = 'parcelhook_service';

/**
 * The statements that make the role, in one transaction, and give it the database. What is in there belongs to the
 * superuser where an earlier version made it. Harmless where all that is done.
 */
export const makeServiceRole = (database: string, password: string): string => `
  begin;
  select pg_advisory_xact_lock(hashtext('parcelhook-service-role'));
  do $$
  declare
    statement text;
  begin
    if not exists (select from pg_roles where rolname = '${serviceRole}') then
      create role ${serviceRole};
    end if;
    alter role ${serviceRole} login nosuperuser nocreatedb nocreaterole password '${password}';
    alter database ${database} owner to ${serviceRole};
    for statement in ${alterOwners} loop
      execute statement || ' owner to ${serviceRole}';
    end loop;
  end $$;
  commit`;

/** Sequences of a column, and what an extension made, follow what they belong to. */
const alterOwners = `
  with own_schemas as (
    select oid, nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'
  ), followers as (
    select classid, objid from pg_depend
     where deptype = 'e' or deptype in ('a', 'i') and classid = 'pg_class'::regclass
       and refclassid = 'pg_class'::regclass and refobjsubid > 0
  )
  select format('alter %s %s', case relkind when 'S' then 'sequence' when 'v' then 'view'
                                            when 'm' then 'materialized view' else 'table' end, c.oid::regclass)
    from pg_class c join own_schemas s on s.oid = c.relnamespace
   where relkind in ('r', 'p', 'v', 'm', 'S') and relowner = current_user::regrole
     and ('pg_class'::regclass, c.oid) not in (select classid, objid from followers)
  union all
  select format('alter routine %s', p.oid::regprocedure)
    from pg_proc p join own_schemas s on s.oid = p.pronamespace
   where prokind in ('f', 'p') and proowner = current_user::regrole
     and ('pg_proc'::regclass, p.oid) not in (select classid, objid from followers)
  union all
  select format('alter type %s', t.oid::regtype)
    from pg_type t join own_schemas s on s.oid = t.typnamespace left join pg_class c on c.oid = t.typrelid
   where (typtype in ('e', 'd') or c.relkind = 'c') and typowner = current_user::regrole
     and ('pg_type'::regclass, t.oid) not in (select classid, objid from followers)
  union all
  select format('alter schema %I', nspname) from own_schemas where nspname <> 'public'`;
