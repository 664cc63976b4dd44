import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  encodeHeaders,
  encodeTargetHeaders,
  decodeHeaders,
  ownHeaders,
  serviceHeaders,
  sign,
} from '../../../../src/engine/send/headers.js';

const ownNames = fc.uniqueArray(fc.stringMatching(/^X-[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/), {
  maxLength: 16,
  selector: (name) => name.toLowerCase(),
});
const secrets = fc.array(fc.base64String({ minLength: 32 }), { minLength: 1, maxLength: 2 });
const attempts = fc.record({
  eventId: fc.string(),
  sequence: fc.integer({ min: 1 }),
  number: fc.integer({ min: 1, max: 1e9 }),
  startedAt: fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }),
  traceparent: fc.stringMatching(/^00-[\da-f]{32}-[\da-f]{16}-0[01]$/),
  version: fc.stringMatching(/^\d{1,3}\.\d{1,3}\.\d{1,3}(-[a-z.0-9]{1,8})?$/),
});

const pairs = (flat: readonly string[]) =>
  flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]!]] : []));

test('the stored headers of an attempt plus its row and event give all of its headers', () => {
  fc.assert(
    fc.property(attempts, secrets, ownNames, fc.json(), (unsigned, keys, names, body) => {
      const attempt = { ...unsigned, signature: sign(keys, unsigned.eventId, 1, body) };
      const own = Object.fromEntries(names.map((name) => [name, 'secret value']));
      const kept = encodeHeaders(attempt, encodeTargetHeaders('https://u.example:8443/a?secret=value', own));
      expect(kept).not.toContain('secret');
      const event = {
        eventId: attempt.eventId,
        sequence: attempt.sequence,
        body,
        trace: Buffer.from(attempt.traceparent.slice(3, 35), 'hex'),
      };
      expect(decodeHeaders(kept, attempt, event)).toEqual({
        host: 'u.example:8443',
        ...Object.fromEntries(names.map((name) => [name.toLowerCase(), '••••'])),
        ...Object.fromEntries(pairs(serviceHeaders(attempt))),
        'content-length': String(Buffer.byteLength(body)),
        connection: 'keep-alive',
      });
      expect(decodeHeaders(null, attempt, event)).toBeNull();
    }),
  );
});

test('a framing header is not sent, even if a webhook has one', () => {
  const registered = { host: 'evil.example', 'X-Own': 'a', 'Transfer-Encoding': 'chunked', 'x-other': 'b' };
  expect(ownHeaders(registered)).toEqual(['X-Own', 'a', 'x-other', 'b']);
});
