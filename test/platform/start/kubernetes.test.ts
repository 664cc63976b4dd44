/** The commands of the containers of docs/kubernetes, in their environment, on real engines. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { request } from '../../support/client.js';
import { createDatabase, dropDatabase } from '../../support/database.js';
import { startProcess, stopProcess } from '../../support/process.js';
import { runProgram } from '../../support/program.js';
import { freePort } from '../../support/redis.js';
import { pods, settingsOf } from '../../support/kubernetes.js';
import { deployment } from '../../support/deployment.js';
import { until } from '../../support/until.js';

const serving = ['api', 'worker'];
const redis = process.env.TEST_REDIS_URL;
(redis ? describe : describe.skip)('the commands of the containers', () => {
  const admin = process.env.TEST_DATABASE_URL ?? '';
  const name = `t_${randomBytes(6).toString('hex')}`;
  const secrets = deployment('');
  let stores: Record<string, string>;

  beforeAll(async () => {
    const owner = await createDatabase(admin, name, null);
    const client = new pg.Client({ connectionString: owner });
    await client.connect();
    await client.query(`create role ${name} login password 's'`);
    await client.end();
    const service = new URL(owner);
    [service.username, service.password] = [name, 's'];
    stores = { DATABASE_URL: service.href, MIGRATION_DATABASE_URL: owner, REDIS_URL: redis! };
  });
  afterAll(async () => {
    await dropDatabase(admin, name);
    const client = new pg.Client({ connectionString: admin });
    await client.connect();
    await client.query(`drop role ${name}`);
    await client.end();
  });

  async function given(role: string): Promise<Record<string, string>> {
    const own = pods.get(role)!.container.env.filter(({ valueFrom }) => !valueFrom.secretKeyRef.optional);
    const values: Record<string, string> = { ...secrets, ...stores };
    const settings = pods.get(role)!.container.envFrom ? settingsOf() : {};
    return {
      ...settings,
      ...Object.fromEntries(own.map(({ name }) => [name, values[name]!])),
      ...(role !== 'migrate' && {
        PORT: String(await freePort()),
        METRICS_PORT: String(await freePort()),
        SHUTDOWN_DELAY: '100ms',
        QUEUE_PREFIX: name,
        HOST: '127.0.0.1',
      }),
    };
  }

  test('migrate, serve what the probes ask where they ask it, wait for the schema until then, and end', async () => {
    const starting = serving.map(async (role) => {
      const env = await given(role);
      return { role, env, running: await startProcess(env, pods.get(role)!.container.args[0]) };
    });
    const { exit, stdout } = await runProgram(pods.get('migrate')!.container.args, await given('migrate'));
    expect(stdout).toMatch(/^Migrated: 0001/);
    expect(exit).toBe(0);
    const started = await Promise.all(starting);
    try {
      for (const { role, env } of started) {
        const { container } = pods.get(role)!;
        for (const probe of [container.startupProbe!, container.livenessProbe!, container.readinessProbe!])
          await until(`${role} ${probe.httpGet.path}`, async () => {
            const { httpStatus } = await request(`http://127.0.0.1:${env.METRICS_PORT}${probe.httpGet.path}`);
            return httpStatus === 200;
          });
        const metrics = await fetch(`http://127.0.0.1:${env.METRICS_PORT}/metrics`);
        expect(await metrics.text()).toContain(`role="${role}"`);
      }
    } finally {
      expect(await Promise.all(started.map(({ running }) => stopProcess(running)))).toEqual([0, 0]);
    }
  });
});
