import { expect, test } from '@jest/globals';
import type { IncomingMessage, ServerResponse } from 'node:http';
import fc from 'fast-check';
import { createIntake } from '../../src/http/connections/intake.js';

const turnOfTheLoop = () => new Promise((resolve) => setImmediate(resolve));

/** An intake whose requests are numbers; `taken` are those that were taken up, turn by turn. */
function numbered() {
  const taken: number[] = [];
  const intake = createIntake((request) => void taken.push(Number(request.url)));
  const take = (number: number, destroyed = false) =>
    intake.take({ url: String(number) } as IncomingMessage, { destroyed } as ServerResponse);
  return { taken, take, connected: intake.connected };
}

const upTo = (count: number) => Array.from({ length: count }, (_, number) => number);

test('all requests are taken up in their order, eight in a turn of the event loop', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 10 }), async (arrivals) => {
      const { taken, take } = numbered();
      let arrived = 0;
      for (const count of arrivals) {
        for (let index = 0; index < count; index += 1) take(arrived++);
        const before = taken.length;
        await turnOfTheLoop();
        expect(taken.length - before).toBe(Math.min(8, arrived - before));
      }
      while (taken.length < arrived) await turnOfTheLoop();
      expect(taken).toEqual(upTo(arrived));
    }),
  );
});

test('in a turn in which somebody connects, one request is taken up: who stands in line to connect is next', async () => {
  const { taken, take, connected } = numbered();
  for (const number of upTo(20)) take(number);
  for (const turns of [1, 2, 3]) {
    connected();
    await turnOfTheLoop();
    expect(taken).toHaveLength(turns);
  }
  await turnOfTheLoop();
  expect(taken).toHaveLength(3 + 8);
});

test('a request whose client has gone is not taken up', async () => {
  const { taken, take } = numbered();
  take(0);
  take(1, true);
  take(2);
  await turnOfTheLoop();
  expect(taken).toEqual([0, 2]);
});
