import { expect, test } from '@jest/globals';
import type { Response } from 'express';
import fc from 'fast-check';
import { EventEmitter } from 'node:events';
import { createBodyBytes } from '../../../../src/http/request/body.js';
import { hasMoreValues } from '../../../../src/http/request/body.js';

test('the values of a body are counted as in JSON, before it is parsed', () => {
  const valuesIn = (value: unknown): number =>
    1 +
    (value && typeof value === 'object'
      ? Object.values(value).reduce<number>((n, v) => n + valuesIn(v), 0)
      : 0);
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.constantFrom(undefined, 1), (value, indent) => {
      const bytes = Buffer.from(JSON.stringify(value, null, indent));
      const count = valuesIn(JSON.parse(bytes.toString()));
      expect([hasMoreValues(bytes, count), hasMoreValues(bytes, count - 1)]).toEqual([false, true]);
    }),
  );
});

const maxBytes = 9_000;

function world() {
  let refused = 0;
  const bodyBytes = createBodyBytes({ maxBytes, onRefused: () => void (refused += 1) });
  const receive = (caller: string) => {
    const response = new EventEmitter();
    const close = () => void response.emit('close');
    return { response: { close }, count: bodyBytes(caller, response as Response) };
  };
  return { receive, refused: () => refused };
}

function refusalOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

const tooMany = { httpStatus: 429, status: 'TOO_MANY_REQUESTS', extra: { headers: { 'Retry-After': '1' } } };

test('a caller may use an eighth of the free memory, and returns it with the response', () => {
  const { receive, refused } = world();
  const [first, second] = [receive('a'), receive('a')];
  first.count(600);
  second.count(400);
  expect(refusalOf(() => second.count(1))).toMatchObject(tooMany);
  expect(refused()).toBe(1);
  receive('b').count(900); // an eighth of what the first left
  first.response.close();
  second.count(500);
});

test('the memory is never used up, and a new caller finds some free', () => {
  const upload = fc.record({
    shipper: fc.nat(30),
    bytes: fc.integer({ min: 1, max: 400 }),
    ends: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(upload, { maxLength: 300 }), (uploads) => {
      const { receive } = world();
      let received = 0;
      for (const { shipper, bytes, ends } of uploads) {
        const { response, count } = receive(String(shipper));
        if (refusalOf(() => count(bytes)) === undefined) received += bytes;
        else continue;
        if (ends) {
          response.close();
          received -= bytes;
        }
        expect(received).toBeLessThan(maxBytes);
      }
      receive('new').count(Math.floor((maxBytes - received) / 8));
    }),
  );
});
