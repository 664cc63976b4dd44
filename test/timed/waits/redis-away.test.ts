import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { basic, registerAccount, request, sampleOrder } from '../../support/client.js';
import { newFolder, type Folder } from '../../support/deployment.js';
import { operatorToken, startServiceOfRole } from '../../support/harness.js';
import { percentile, startLoad } from '../../support/load.js';
import { redisProgram, startRedis } from '../../support/redis.js';

let folder: Folder;
beforeAll(() => {
  folder = newFolder();
});
afterAll(() => folder.remove());

(redisProgram ? test : test.skip).each([
  ['killed', 'SIGKILL'],
  ['hanging', 'SIGSTOP'],
])(
  'Redis %s: an API stays ready and reports it, accepts orders at once and logins, and limits by itself',
  async (state, signal) => {
    const redis = (await startRedis(folder.path))!;
    const service = await startServiceOfRole('api', {
      REDIS_URL: redis.url,
      API_RATE_LIMIT: '25',
      LOGIN_LIMIT_ACCOUNT: '10',
    });
    const account = await registerAccount(service);
    const other = await registerAccount(service, 'other@example.com');
    const load = startLoad(() => account, 60);
    try {
      await sleep(1_000);
      process.kill(redis.pid, signal);
      const before = load.responses.length;
      await sleep(3_000);
      const { httpStatus, body } = await request(`${service.url}/readyz`, {
        headers: { authorization: `Bearer ${operatorToken}` },
      });
      const { checks } = body as unknown as { checks: Record<string, string> };
      expect({ httpStatus, postgres: checks.postgres }).toEqual({ httpStatus: 200, postgres: 'OK' });
      expect(checks.queue).toMatch(/Redis is not connected|no answer|timed out/);
      const headers = { authorization: basic(other.email, other.password) };
      const logIn = () => request(`${service.url}/v1/login?key=${other.accountKey}`, { headers });
      for (let time = 0; time < 10; time += 1) expect((await logIn()).httpStatus).toBe(200);
      expect((await logIn()).httpStatus).toBe(429);
      await load.stop();
      const away = load.responses.slice(before);
      const durations = away.map(({ durationMs }) => durationMs);
      const p99 = percentile(durations, 0.99);
      console.info(`${away.length} orders while Redis was ${state}: p99 ${p99.toFixed(0)} ms`);
      expect(away.filter((response) => response.httpStatus !== 201)).toEqual([]);
      expect(p99).toBeLessThan(1_500);

      const statuses = new Set<number>();
      const client = async () => {
        for (let n = 0; n < 20; n += 1)
          statuses.add((await other.call('/v1/shipments', { body: sampleOrder() })).httpStatus);
      };
      await Promise.all(Array.from({ length: 20 }, client));
      expect(statuses).toEqual(new Set([201, 429]));
    } finally {
      await load.stop();
      await redis.stop(); // before the service, which would wait for a hanging one
      await service.stop();
    }
  },
);
