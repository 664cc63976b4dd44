import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newSecret } from '../../../src/engine/send/sealing.js';
import { sign } from '../../../src/engine/send/headers.js';
import { problemOf } from '../../../src/inbox/inbox.js';

const atSeconds = 1_790_000_000;
const secret = newSecret();
const signed = (body: string, signature = sign([secret], 'id', atSeconds, body)) => ({
  headers: {
    'webhook-id': 'id',
    'webhook-timestamp': String(atSeconds),
    'webhook-signature': signature,
  },
  body,
});
const problem = (arrival: Parameters<typeof problemOf>[0], secrets = [secret], secondsLater = 0) =>
  problemOf(arrival, secrets, (atSeconds + secondsLater) * 1_000);

test('what one of the secrets has signed verifies, up to five minutes away from the clock', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: -300, max: 300 }), (body, late) => {
      expect(problem(signed(body), [newSecret(), secret], late)).toBeNull();
    }),
  );
  const rotated = signed('{}', sign([newSecret(), secret], 'id', atSeconds, '{}'));
  expect(problem(rotated)).toBeNull();
});

test('anything else does not, and the reason is named', () => {
  const arrival = signed('{}');
  const without = (name: string) => ({ ...arrival, headers: { ...arrival.headers, [name]: undefined } });
  for (const name of Object.keys(arrival.headers))
    expect(problem(without(name))).toContain(`${name} is missing`);
  expect(problem(arrival, [])).toMatch(/^No webhook of yours/);
  expect(problem(arrival, [newSecret()])).toMatch(/^No signature matches/);
  expect(problem({ ...arrival, body: '{ }' })).toMatch(/^No signature matches/);
  expect(problem(signed('{}', ''))).toMatch(/is missing/);
  expect(problem(arrival, [secret], 301)).toBe('webhook-timestamp is 301 s away from the clock.');
  expect(problem({ ...arrival, headers: { ...arrival.headers, 'webhook-timestamp': 'now' } })).toMatch(
    /not a number/,
  );
});
