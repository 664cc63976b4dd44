import { expect, test } from '@jest/globals';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import fc from 'fast-check';
import { createIntake, recognise } from '../../src/http/connections/intake.js';

const turnOfTheLoop = () => new Promise((resolve) => setImmediate(resolve));

/** An intake whose requests are numbers, each on a connection of its own unless it is told which. */
function numbered() {
  const taken: number[] = [];
  const stuck = new Set<object>();
  const intake = createIntake(
    (request) => void taken.push(Number(request.url)),
    (socket) => !stuck.has(socket),
  );
  const take = (
    number: number,
    options: { destroyed?: boolean; socket?: object; authorization?: string } = {},
  ) =>
    intake.take(
      {
        url: String(number),
        socket: options.socket ?? { writable: true },
        headers: { authorization: options.authorization },
      } as IncomingMessage,
      { destroyed: options.destroyed ?? false } as ServerResponse,
    );
  const goOn = (socket: object) => intake.goOn(socket as Socket);
  return { taken, take, goOn, stuck, connected: intake.connected };
}

const goneSockets = Array.from({ length: 30 }, () => ({ writable: false }));
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

test('a turn with a new connection takes up one request, and one more for every 64 connections that wait', async () => {
  const { taken, take, connected } = numbered();
  for (const number of upTo(66)) take(number);
  const after: number[] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    connected();
    await turnOfTheLoop();
    after.push(taken.length);
  }
  await turnOfTheLoop();
  expect([...after, taken.length]).toEqual([2, 4, 5, 6, 14]);
});

test('connections take turns: what one sends at once waits behind the first of every other', async () => {
  const { taken, take } = numbered();
  const socket = { writable: true };
  for (const number of upTo(20)) take(number, { socket });
  for (const number of [100, 101, 102]) take(number);
  while (taken.length < 23) await turnOfTheLoop();
  expect(taken.slice(0, 6)).toEqual([0, 100, 101, 102, 1, 2]);
  expect(taken.filter((number) => number < 100)).toEqual(upTo(20));
});

const bears = (authorization: string) => ({ headers: { authorization } }) as IncomingMessage;

test('accounts that are known take turns, whatever the number of their connections and tokens', async () => {
  recognise(bears('busy 1'), 'busy');
  recognise(bears('busy 2'), 'busy');
  recognise(bears('quiet'), 'quiet');
  const { taken, take } = numbered();
  for (const number of upTo(40)) take(number, { authorization: `busy ${1 + (number % 2)}` });
  for (const number of [100, 101]) take(number, { authorization: 'quiet' });
  while (taken.length < 42) await turnOfTheLoop();
  expect(taken.slice(0, 6)).toEqual([0, 100, 1, 101, 2, 3]);
});

test('who is not known takes every second turn, a connection at a time, whatever he bears', async () => {
  recognise(bears('an account'), 'an account');
  const { taken, take } = numbered();
  for (const number of upTo(20)) take(number, { authorization: `invented ${number}` });
  for (const number of [100, 101, 102]) take(number, { authorization: 'an account' });
  while (taken.length < 23) await turnOfTheLoop();
  const ofTheAccount = taken.flatMap((number, place) => (number >= 100 ? [place] : []));
  expect(ofTheAccount.map((place) => Math.floor(place / 2))).toEqual([0, 1, 2]);
  expect(taken.filter((number) => number < 100)).toEqual(upTo(20));
});

test('whose client has gone leaves at once with all it had sent, and takes nobody’s turn', async () => {
  recognise(bears('honest'), 'honest');
  const { taken, take } = numbered();
  for (let gone = 0; gone < 30; gone += 1)
    for (let n = 0; n < 100; n += 1)
      take(-1, { socket: goneSockets[gone]!, ...(gone < 15 && { authorization: 'honest' }) });
  for (const number of upTo(8)) take(number, { authorization: 'honest' });
  await turnOfTheLoop();
  expect(taken).toEqual(upTo(8));
});

test('nothing is taken up within the turn in which it came, however much that is', async () => {
  const { taken, take } = numbered();
  const socket = { writable: true };
  for (const number of upTo(400)) take(number, { socket });
  expect(taken).toEqual([]);
  await turnOfTheLoop();
  expect(taken).toEqual(upTo(8));
});

test('who does not take his answers has no turn until he does, and keeps nobody else waiting', async () => {
  const { taken, take, goOn, stuck } = numbered();
  const socket = { writable: true };
  stuck.add(socket);
  for (const number of upTo(3)) take(number, { socket });
  take(100);
  await turnOfTheLoop();
  take(3, { socket });
  await turnOfTheLoop();
  expect(taken).toEqual([100]);
  stuck.clear();
  goOn(socket);
  await turnOfTheLoop();
  expect(taken).toEqual([100, ...upTo(4)]);
});

test('a request whose client has gone is passed over', async () => {
  const { taken, take } = numbered();
  for (const number of upTo(20))
    take(number, { destroyed: number < 10, socket: { writable: number !== 15 } });
  await turnOfTheLoop();
  expect(taken).toEqual([10, 11, 12, 13, 14, 16, 17, 18]);
});
