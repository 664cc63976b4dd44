import pg from 'pg';

/** Settings that other programs of a server may need, and that change what our statements do or mean. */
const hostile = {
  search_path: 'pg_catalog',
  DateStyle: 'German',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Asia/Kathmandu',
  default_transaction_isolation: 'serializable',
  standard_conforming_strings: 'off',
  bytea_output: 'escape',
  array_nulls: 'off',
  extra_float_digits: '-15',
  synchronous_commit: 'off',
  statement_timeout: '700ms',
  lock_timeout: '100ms',
  idle_in_transaction_session_timeout: '500ms',
  idle_session_timeout: '2s',
  plan_cache_mode: 'force_custom_plan',
  enable_nestloop: 'off',
  transaction_timeout: '300ms',
};
/** PostgreSQL 17 has it first. */
const newest = 'transaction_timeout';

/** Connections of the role have them from now on, or PostgreSQL's own again; of every role by default. */
export async function setDefaults(server: string, are: 'hostile' | 'usual', role = 'all'): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  const { rows } = await client.query('select from pg_settings where name = $1', [newest]);
  const known = Object.entries(hostile).filter(([name]) => name !== newest || rows.length > 0);
  const statements = known.map(([name, value]) =>
    are === 'hostile' ? `alter role ${role} set ${name} = '${value}'` : `alter role ${role} reset ${name}`,
  );
  try {
    await client.query(statements.join('; '));
  } finally {
    await client.end();
  }
}

/** For the connections of the tests themselves (`PGOPTIONS`), which expect what is usual. */
export const usualOptions = [
  'search_path="$user",public',
  'DateStyle=ISO',
  'IntervalStyle=postgres',
  'TimeZone=UTC',
  'default_transaction_isolation=read\\ committed',
  'standard_conforming_strings=on',
  'bytea_output=hex',
  'array_nulls=on',
  'extra_float_digits=1',
  'synchronous_commit=on',
  'statement_timeout=0',
  'lock_timeout=0',
  'idle_in_transaction_session_timeout=0',
  'idle_session_timeout=0',
  'plan_cache_mode=auto',
  'enable_nestloop=on',
]
  .map((setting) => `-c ${setting}`)
  .join(' ');
