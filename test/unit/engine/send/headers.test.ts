import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { ownHeaders, serviceHeaders, sign } from '../../../../src/engine/send/headers.js';
import { newSecret } from '../../../../src/engine/send/sealing.js';

test('a framing header is not sent, even if a webhook has one', () => {
  const registered = { host: 'evil.example', 'X-Own': 'a', 'Transfer-Encoding': 'chunked', 'x-other': 'b' };
  expect(ownHeaders(registered)).toEqual(['X-Own', 'a', 'x-other', 'b']);
});

test('`accept` is sent once: the webhook’s own, if it has one', () => {
  const [signature, version, traceparent] = ['v1,x', '1.0.0', '00-0-0-00'];
  const attempt = {
    eventId: 'e',
    sequence: 1,
    number: 1,
    startedAt: new Date(),
    signature,
    version,
    traceparent,
  };
  const sent = (own: string[]) => {
    const all = [...own, ...serviceHeaders(attempt, own)];
    return all.filter((_, at) => all[at - (at % 2)]!.toLowerCase() === 'accept');
  };
  expect(sent([])).toEqual(['accept', '*/*']);
  expect(sent(['x-own', 'accept'])).toEqual(['accept', '*/*']);
  expect(sent(['Accept', 'application/json'])).toEqual(['Accept', 'application/json']);
});

describe('signatures', () => {
  const secrets = fc
    .uint8Array({ minLength: 24, maxLength: 64 })
    .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`);
  const bodies = fc.oneof(
    fc.json(),
    fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify({ text })),
  );
  const nowSeconds = () => Math.floor(Date.now() / 1_000);

  const headers = (id: string, timestamp: number, signature: string) => ({
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  });

  describe('the signature of Standard Webhooks', () => {
    test('is that of the published example', () => {
      expect(
        sign(
          ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
          'msg_p5jXN8AQM9LWM0D4loKWxJek',
          1614265330,
          '{"test": 2432232314}',
        ),
      ).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
    });

    test('equals that of the reference library', () => {
      fc.assert(
        fc.property(
          secrets,
          fc.uuid(),
          fc.integer({ min: 0, max: 4e9 }),
          bodies,
          (secret, id, seconds, body) => {
            expect(sign([secret], id, seconds, body)).toBe(
              new Webhook(secret).sign(id, new Date(seconds * 1_000), body),
            );
          },
        ),
      );
    });

    test('verifies with either secret during a rotation, and with no other', () => {
      fc.assert(
        fc.property(
          fc.uniqueArray(secrets, { minLength: 3, maxLength: 3 }),
          fc.uuid(),
          bodies,
          (all, id, body) => {
            const [current, previous, stranger] = all as [string, string, string];
            const signed = headers(id, nowSeconds(), sign([current, previous], id, nowSeconds(), body));
            expect(signed['webhook-signature'].split(' ')).toHaveLength(2);
            expect(new Webhook(current).verify(body, signed)).toEqual(JSON.parse(body));
            expect(new Webhook(previous).verify(body, signed)).toEqual(JSON.parse(body));
            expect(() => new Webhook(stranger).verify(body, signed)).toThrow();
          },
        ),
        { numRuns: 50 },
      );
    });

    test('does not verify for another id, timestamp or body', () => {
      const secret = newSecret();
      const body = '{"state":"CREATED"}';
      const seconds = nowSeconds();
      const signature = sign([secret], 'id-1', seconds, body);
      const verify = (id: string, at: number, text: string) =>
        new Webhook(secret).verify(text, headers(id, at, signature));
      expect(verify('id-1', seconds, body)).toEqual({ state: 'CREATED' });
      expect(() => verify('id-2', seconds, body)).toThrow();
      expect(() => verify('id-1', seconds + 1, body)).toThrow();
      expect(() => verify('id-1', seconds, `${body} `)).toThrow();
    });
  });
});
