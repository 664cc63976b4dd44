/** A server with slots, an archive and a standby, and the figures of them. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { refreshCopies } from '../../src/observe/infrastructure.js';
import { createMetrics } from '../../src/platform/telemetry/metrics.js';
import { installedPostgres, ownPostgres, type OwnPostgres } from '../docs/own-postgres.js';
import { openPool } from '../support/core/world.js';
import { newFolder } from '../support/deployment.js';
import { until } from '../support/until.js';

if (!installedPostgres)
  console.warn("\n  NO PostgreSQL OF DEBIAN'S: what it tells of its copies is NOT TESTED.\n");

const mebibyte = 1_048_576;

(installedPostgres ? describe : describe.skip)('PostgreSQL with slots, an archive and a standby', () => {
  const folder = newFolder();
  let postgres: OwnPostgres;

  beforeAll(async () => {
    postgres = await ownPostgres(installedPostgres!, folder.path);
    await sql(`alter system set archive_mode = on`);
    await sql(`alter system set archive_command = 'true'`);
    await sql(`alter system set max_slot_wal_keep_size = '64MB'`);
    await sql(`create role service login password 'service'`);
    await postgres.stop();
    await postgres.start();
  }, 60_000);
  afterAll(async () => {
    await postgres?.stop();
    folder.remove();
  });

  async function sql<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** The figures by what follows `parcelhook_postgres_`, as a role reads them. */
  async function read(role: 'superuser' | 'service' = 'superuser'): Promise<Record<string, number>> {
    const url = new URL(postgres.url);
    if (role === 'service') [url.username, url.password] = [role, role];
    const db = openPool(url.toString(), 1);
    const metrics = createMetrics();
    await refreshCopies({ db, metrics });
    await db.end();
    const lines = [
      ...(await metrics.text()).matchAll(/^parcelhook_postgres_((?:slot|archive|standby)\S*) (.+)$/gm),
    ];
    return Object.fromEntries(lines.map(([, name, value]) => [name!, Number(value)]));
  }

  test('a slot shows what it keeps and what it may keep, and no more once it is dropped', async () => {
    await sql(`select pg_create_physical_replication_slot('nobodys', true)`);
    const { 'slot_kept_bytes{slot="nobodys"}': before } = await read();
    await sql(
      'create table filler as select repeat(md5(n::text), 20) as text from generate_series(1, 4000) n',
    );
    const { 'slot_kept_bytes{slot="nobodys"}': after, slot_limit_bytes: limit } = await read('service');
    expect(after! - before!).toBeGreaterThan(mebibyte);
    expect(limit).toBe(64 * mebibyte);
    await sql(`select pg_drop_replication_slot('nobodys')`);
    expect(Object.keys(await read()).filter((name) => name.startsWith('slot_kept'))).toEqual([]);
  });

  test('an archive that fails shows since when, until it takes a file again', async () => {
    const failing = async () => (await read('service')).archive_failing_seconds;
    const setCommand = async (command: string) => {
      await sql(`alter system set archive_command = '${command}'`);
      await sql('select pg_reload_conf()');
      await sql('create table if not exists more (); drop table more; select pg_switch_wal()');
    };
    expect(await failing()).toBe(0);
    await setCommand('true');
    await setCommand('false');
    await until('it fails', async () => (await failing())! > 0, 30_000);
    await setCommand('true');
    await until('it works again', async () => (await failing()) === 0, 30_000);
  }, 90_000);

  test('a standby is counted while it is there; a role without pg_monitor is told of none', async () => {
    expect(await read()).toMatchObject({ standbys: 0 });
    const settings = { connectionString: postgres.url, application_name: 'b', replication: 'true' };
    const standby = new pg.Client(settings);
    standby.on('error', () => undefined);
    await standby.connect();
    const [head] = await sql<{ lsn: string }>('select pg_current_wal_flush_lsn()::text as lsn');
    standby.query(`START_REPLICATION PHYSICAL ${head!.lsn}`).catch(() => undefined); // lasts as long as the connection
    const lag = 'standby_lag_seconds{standby="b"}';
    await until('it is seen', async () => lag in (await read()));
    expect(await read()).toMatchObject({ standbys: 1, [lag]: 0 });
    expect(Object.keys(await read('service')).filter((name) => name.startsWith('standby'))).toEqual([]);
    await sql('grant pg_monitor to service');
    expect(await read('service')).toMatchObject({ standbys: 1, [lag]: 0 });
    await standby.end();
    await until('it is gone', async () => (await read()).standbys === 0);
    expect(await read()).not.toHaveProperty(lag);
  });
});
