import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { figureOf, basic, operator, registerAccount, request } from '../../support/client.js';
import { startServiceToInspect, type Service } from '../../support/harness.js';

/** The text of /metrics may be older by a fifth of a second. */
const staleMs = 300;

/**
 * Counts all threads: the hash is computed off the event loop. Unlike elapsed time it does not grow on a busy machine.
 */
async function cpuSecondsOf(service: Service): Promise<number> {
  await sleep(staleMs);
  return figureOf(service, 'process_cpu_seconds_total');
}

test('a wrong password, an unknown e-mail and a user without a password cost the same, one hash each; an unknown key costs none', async () => {
  const service = await startServiceToInspect({}, 'api');
  const account = await registerAccount(service);
  const passwordless = 'nopassword@example.com';
  await operator(service, `/shippers/${account.shipperId}/users`, { body: { email: passwordless } });
  const cases = [
    { ...account, accountKey: 'ak_unknown' },
    { ...account, password: 'wrong horse battery' },
    { ...account, email: 'nobody@example.com' },
    { ...account, email: passwordless },
  ];
  const logInTimes = async (count: number, { accountKey, email, password }: (typeof cases)[number]) => {
    const headers = { authorization: basic(email, password) };
    for (let n = 0; n < count; n += 1)
      await request(`${service.url}/v1/login?key=${accountKey}`, { headers });
  };
  const costs = cases.map(() => 0);
  for (const one of cases) await logInTimes(2, one);
  for (let round = 0; round < 4; round += 1)
    for (const [index, one] of cases.entries()) {
      const before = await cpuSecondsOf(service);
      await logInTimes(8, one);
      costs[index]! += (await cpuSecondsOf(service)) - before;
    }
  await service.stop();
  const [withoutHash, ...withHash] = costs as [number, ...number[]];
  expect(Math.max(...withHash) / Math.min(...withHash)).toBeLessThan(1.6);
  expect(withoutHash / Math.min(...withHash)).toBeLessThan(0.5);
});
