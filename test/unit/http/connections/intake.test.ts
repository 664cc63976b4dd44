import { expect, test } from '@jest/globals';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import fc from 'fast-check';
import { createIntake, recognise } from '../../../../src/http/connections/intake.js';

const eventLoopTick = () => new Promise((resolve) => setImmediate(resolve));

/** Each request is on its own connection unless given. */
function numbered() {
  const taken: number[] = [];
  const givenUp: number[] = [];
  const stuck = new Set<object>();
  const intake = createIntake(
    (request) => void taken.push(Number(request.url)),
    (socket) => !stuck.has(socket),
    (request) => void givenUp.push(Number(request.url)),
  );
  const take = (
    number: number,
    options: { destroyed?: boolean; socket?: object; authorization?: string } = {},
  ) =>
    intake.add(
      {
        url: String(number),
        socket: options.socket ?? { writable: true },
        headers: { authorization: options.authorization },
      } as IncomingMessage,
      { destroyed: options.destroyed ?? false } as ServerResponse,
    );
  const goOn = (socket: object) => intake.resume(socket as Socket);
  return { taken, givenUp, take, goOn, stuck, connected: intake.connected };
}

const goneSockets = Array.from({ length: 30 }, () => ({ writable: false }));
const upTo = (count: number) => Array.from({ length: count }, (_, number) => number);

test('all requests are processed in order, eight per event-loop tick', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 10 }), async (arrivals) => {
      const { taken, take } = numbered();
      let arrived = 0;
      for (const count of arrivals) {
        for (let index = 0; index < count; index += 1) take(arrived++);
        const before = taken.length;
        await eventLoopTick();
        expect(taken.length - before).toBe(Math.min(8, arrived - before));
      }
      while (taken.length < arrived) await eventLoopTick();
      expect(taken).toEqual(upTo(arrived));
    }),
  );
});

test('a tick with a new connection processes one request, plus one for every 64 waiting connections', async () => {
  const { taken, take, connected } = numbered();
  for (const number of upTo(66)) take(number);
  const after: number[] = [];
  for (let step = 0; step < 4; step += 1) {
    connected();
    await eventLoopTick();
    after.push(taken.length);
  }
  await eventLoopTick();
  expect([...after, taken.length]).toEqual([2, 4, 5, 6, 14]);
});

test('connections alternate: pipelined requests wait behind the first of every other connection', async () => {
  const { taken, take } = numbered();
  const socket = { writable: true };
  for (const number of upTo(20)) take(number, { socket });
  for (const number of [100, 101, 102]) take(number);
  while (taken.length < 23) await eventLoopTick();
  expect(taken.slice(0, 6)).toEqual([0, 100, 101, 102, 1, 2]);
  expect(taken.filter((number) => number < 100)).toEqual(upTo(20));
});

const bears = (authorization: string) => ({ headers: { authorization } }) as IncomingMessage;

test('known accounts alternate, whatever the number of their connections and tokens', async () => {
  recognise(bears('busy 1'), 'busy');
  recognise(bears('busy 2'), 'busy');
  recognise(bears('quiet'), 'quiet');
  const { taken, take } = numbered();
  for (const number of upTo(40)) take(number, { authorization: `busy ${1 + (number % 2)}` });
  for (const number of [100, 101]) take(number, { authorization: 'quiet' });
  while (taken.length < 42) await eventLoopTick();
  expect(taken.slice(0, 6)).toEqual([0, 100, 1, 101, 2, 3]);
});

test('unknown callers share every second place, one connection at a time, whatever token they send', async () => {
  recognise(bears('an account'), 'an account');
  const { taken, take } = numbered();
  for (const number of upTo(20)) take(number, { authorization: `invented ${number}` });
  for (const number of [100, 101, 102]) take(number, { authorization: 'an account' });
  while (taken.length < 23) await eventLoopTick();
  const ofTheAccount = taken.flatMap((number, place) => (number >= 100 ? [place] : []));
  expect(ofTheAccount.map((place) => Math.floor(place / 2))).toEqual([0, 1, 2]);
  expect(taken.filter((number) => number < 100)).toEqual(upTo(20));
});

test('a closed connection leaves at once with all its requests, without using a place', async () => {
  recognise(bears('honest'), 'honest');
  const { taken, take } = numbered();
  for (let gone = 0; gone < 30; gone += 1)
    for (let n = 0; n < 100; n += 1)
      take(-1, { socket: goneSockets[gone]!, ...(gone < 15 && { authorization: 'honest' }) });
  for (const number of upTo(8)) take(number, { authorization: 'honest' });
  await eventLoopTick();
  expect(taken).toEqual(upTo(8));
});

test('each request whose client is gone is reported once, those behind it on its connection included', async () => {
  const { taken, givenUp, take } = numbered();
  const socket = { writable: true };
  for (const number of upTo(3)) take(number, { socket });
  take(3, { destroyed: true });
  take(4);
  socket.writable = false;
  for (let tick = 0; tick < 3; tick += 1) await eventLoopTick();
  expect([...givenUp].sort()).toEqual([0, 1, 2, 3]);
  expect(taken).toEqual([4]);
});

test('nothing is processed in the tick in which it arrived, whatever the amount', async () => {
  const { taken, take } = numbered();
  const socket = { writable: true };
  for (const number of upTo(400)) take(number, { socket });
  expect(taken).toEqual([]);
  await eventLoopTick();
  expect(taken).toEqual(upTo(8));
});

test('a connection that does not read its responses is skipped until it does, without delaying others', async () => {
  const { taken, take, goOn, stuck } = numbered();
  const socket = { writable: true };
  stuck.add(socket);
  for (const number of upTo(3)) take(number, { socket });
  take(100);
  await eventLoopTick();
  take(3, { socket });
  await eventLoopTick();
  expect(taken).toEqual([100]);
  stuck.clear();
  goOn(socket);
  await eventLoopTick();
  expect(taken).toEqual([100, ...upTo(4)]);
});

test('a request of a closed connection is skipped', async () => {
  const { taken, take } = numbered();
  for (const number of upTo(20))
    take(number, { destroyed: number < 10, socket: { writable: number !== 15 } });
  await eventLoopTick();
  expect(taken).toEqual([10, 11, 12, 13, 14, 16, 17, 18]);
});
