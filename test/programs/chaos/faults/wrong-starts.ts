import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until, type Figure } from '../../bench/scenarios/scenario.js';
import { setDefaults, usualOptions } from '../../../support/hostile-defaults.js';
import { request } from '../../../support/client.js';
import { operatorToken, startProcess, stopProcess } from '../../../support/process.js';
import { runProgram } from '../../../support/program.js';
import { freePort } from '../../../support/redis.js';
import {
  emptyDatabaseOfOwner,
  isRefused,
  lostKey,
  otherMigration,
  programWithOtherText,
  waitingForSchema,
} from '../../../support/wrong-starts.js';
import { respondedWithin, goesOnWithin, notAccepted } from './figures.js';
import { inFlightOfProcess } from '../world/service.js';
import type { Fault, Injection } from './fault.js';

const wrongStarts: Fault = {
  name: 'B20',
  promise:
    'starts with another SECRETS_KEY, or with an altered migration: refused, nothing written; a worker without a schema waits for it',
  workers: 2,
  inFlight: 0,
  inject: async (injection) => {
    await startWrongly(injection);
    await startBeforeSchema(injection);
  },
  figures: (outcome) => [respondedWithin(outcome, 1_000), notAccepted(outcome)],
};

const written = `
  select md5(concat((select string_agg(m::text, ',' order by name) from migrations m),
                    (select string_agg(k::text, ',') from key_check k),
                    (select string_agg(f::text, ',') from feed f),
                    (select string_agg(relname, ',' order by relname) from pg_class where relkind in ('r', 'p')))) as hash`;

async function startWrongly({ world: { service, sql }, times, note }: Injection): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'parcelhook-other-'));
  try {
    const program = programWithOtherText(folder);
    const env = { ...service.env, PORT: '0' };
    const other = { ...env, SECRETS_KEY: 'another'.repeat(6) };
    const starts = [
      async (role: string) => isRefused(await runProgram([role], other), lostKey),
      async (role: string) => isRefused(await runProgram([role], env, { program }), otherMigration),
    ];
    const before = await sql(written);
    let [asked, notRefused] = [0, 0];
    for (let n = times(10); n > 0; n -= 1)
      for (const role of ['api', 'worker'])
        for (const start of starts) {
          asked += 1;
          if (!(await start(role))) notRefused += 1;
        }
    note({ name: `wrong starts not refused, of ${asked}`, value: notRefused, unit: '', atMost: 0 });
    const changed = JSON.stringify(before) === JSON.stringify(await sql(written)) ? 0 : 1;
    note({ name: 'databases changed by a wrong start', value: changed, unit: '', atMost: 0 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function startBeforeSchema({ world: { service, postgres }, note }: Injection): Promise<void> {
  const database = await emptyDatabaseOfOwner(postgres!.superuserUrl);
  const port = await freePort();
  // An empty REDIS_URL means none: the queue is in the database, too.
  const env = { ...service.env, DATABASE_URL: database.service, REDIS_URL: '', PORT: String(port) };
  const starting = startProcess(env, 'worker');
  try {
    await until('it waits for the schema', 20_000, async () => {
      const response = await request(`http://127.0.0.1:${port}/readyz`).catch(() => null);
      return JSON.stringify(response?.body ?? '').includes(waitingForSchema);
    });
    const urls = { DATABASE_URL: database.service, MIGRATION_DATABASE_URL: database.owner };
    const { exit } = await runProgram(['migrate'], urls);
    note({ name: 'exit code of migrate', value: Number(exit), unit: '', atMost: 0 });
    const migratedAt = performance.now();
    await starting;
    note({
      name: 'worker ready, after the migration, in',
      value: performance.now() - migratedAt,
      unit: 'ms',
      atMost: 10_000,
    });
  } finally {
    await stopProcess(await starting);
    await database.drop();
  }
}

const hostileEngines: Fault = {
  name: 'B30',
  promise:
    'roles with hostile defaults (DateStyle, TimeZone, isolation, search_path, bytea_output), every connection new: delivering again within 10 s; a worker whose Redis user lacks INFO, and an api whose role may not create the schema, say so within 15 s, answer, and end on SIGTERM',
  workers: 2,
  inFlight: 2 * inFlightOfProcess,
  inject: async (injection) => {
    const { world, mark, note, pause } = injection;
    const { superuserUrl, sql } = world.postgres!;
    process.env.PGOPTIONS = usualOptions; // for the bench's own connections
    await setDefaults(superuserUrl, 'hostile');
    await sql(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'parcelhook%'`,
    );
    mark();
    await pause(10_000);
    const database = await emptyDatabaseOfOwner(superuserUrl);
    const env = { ...world.service.env, DATABASE_URL: database.service };
    for (const figure of await saysWhy('api', env, 'postgres', /permission denied/)) note(figure);
    if (world.redis) {
      await world.redis.command('ACL', 'SETUSER', 'blind', 'on', '>secret', '~*', '&*', '+@all', '-info');
      const url = new URL(world.service.env.REDIS_URL!);
      [url.username, url.password] = ['blind', 'secret'];
      const blind = { ...world.service.env, REDIS_URL: url.href };
      for (const figure of await saysWhy('worker', blind, 'queue', /NOPERM/)) note(figure);
    }
    await database.drop();
    await setDefaults(superuserUrl, 'usual');
    delete process.env.PGOPTIONS;
  },
  figures: (outcome) => [respondedWithin(outcome, 1_100), goesOnWithin(outcome, 10_000)],
};

/** Starts a process that cannot work. */
async function saysWhy(
  role: string,
  env: Record<string, string>,
  check: string,
  why: RegExp,
): Promise<Figure[]> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let stop: () => void = () => undefined;
  const stopWhen = new Promise<void>((resolve) => (stop = resolve));
  const ended = runProgram([role], { ...env, PORT: String(port) }, { stopWhen });
  const startedAt = performance.now();
  const headers = { authorization: `Bearer ${operatorToken}` };
  let slowestMs = 0;
  let said: Record<string, string> = {};
  const says = async () => {
    const askedAt = performance.now();
    const lives = await request(`${url}/healthz`).catch(() => null);
    if (lives) slowestMs = Math.max(slowestMs, performance.now() - askedAt);
    const answer = await request(`${url}/readyz`, { headers }).catch(() => null);
    said = (answer?.body as { checks?: Record<string, string> } | undefined)?.checks ?? said;
    return why.test(said[check] ?? '');
  };
  await until(`${role} says why`, 60_000, says)
    .catch((error: unknown) => {
      throw new Error(`it said ${JSON.stringify(said)}`, { cause: error });
    })
    .finally(stop);
  const saidAfterMs = performance.now() - startedAt;
  const { exit } = await ended;
  return [
    { name: `${role}: said why after`, value: saidAfterMs, unit: 'ms', atMost: 15_000 },
    { name: `${role}: slowest /healthz`, value: slowestMs, unit: 'ms', atMost: 1_000 },
    { name: `${role}: exit code after SIGTERM`, value: Number(exit), unit: '', atMost: 0 },
  ];
}

export const wrongStartFaults: Fault[] = [wrongStarts, hostileEngines];
