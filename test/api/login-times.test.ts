import { expect, test } from '@jest/globals';
import { basic, operator, registerAccount, request } from '../client.js';
import { startService } from '../harness.js';

const tries = 3;

/** The least that a login took of each kind: what a busy machine adds to the others is no hash. */
async function measure(): Promise<{ withoutHash: number; withHash: number[] }> {
  const service = await startService({ role: 'api' });
  const account = await registerAccount(service);
  const passwordless = 'nopassword@example.com';
  await operator(service, `/shippers/${account.shipperId}/users`, { body: { email: passwordless } });
  const cases = [
    { ...account, accountKey: 'ak_unknown' },
    { ...account, password: 'wrong horse battery' },
    { ...account, email: 'nobody@example.com' },
    { ...account, email: passwordless },
  ];
  const least = cases.map(() => Infinity);
  for (let round = 0; round < 12; round += 1)
    for (const [index, { accountKey, email, password }] of cases.entries()) {
      const startedAt = performance.now();
      const headers = { authorization: basic(email, password) };
      await request(`${service.url}/v1/login?key=${accountKey}`, { headers });
      if (round > 0) least[index] = Math.min(least[index]!, performance.now() - startedAt);
    }
  await service.stop();
  const [withoutHash, ...withHash] = least;
  return { withoutHash: withoutHash!, withHash };
}

test('a wrong password, an unknown e-mail and a user without one take the same time, one hash each; an unknown key costs none', async () => {
  // A machine that is busy for some seconds makes differences of its own, but not each time.
  for (let again = 1; ; again += 1) {
    const { withoutHash, withHash } = await measure();
    console.info(`at least: ${[withoutHash, ...withHash].map((ms) => ms.toFixed(1)).join(', ')} ms`);
    const figures = [Math.max(...withHash) / Math.min(...withHash), withoutHash / Math.min(...withHash)];
    if (again < tries && (figures[0]! >= 1.6 || figures[1]! >= 0.5)) continue;
    expect(figures[0]).toBeLessThan(1.6);
    expect(figures[1]).toBeLessThan(0.5);
    return;
  }
}, 60_000);
