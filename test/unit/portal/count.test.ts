import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mock } from 'node:test';

/** Browsers have it, Node 20 does not. */
Promise.withResolvers = <Value>() => {
  const made = {} as PromiseWithResolvers<Value>;
  made.promise = new Promise<Value>((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};
const { countReplay } = await import('../../../src/portal/places/recover/count.js');

const range = { from: '2026-11-25T10:00:00Z', to: '2026-11-25T11:00:00Z' };
const event = (eventId: string, recordedAt: string) => ({ eventId, state: 'CREATED', recordedAt });
const delivery = (eventId: string, status = 'SUCCEEDED') => ({
  eventId,
  status,
  attemptCount: 1,
  trackingId: 'PH1',
});

/** The pages that the API returns, in the order of the reads. */
let log: { deliveries: object[]; nextCursor: string | null }[];
let feed: object[][];
let asked: URL[];
const asOf = (path: string) => asked.filter(({ pathname }) => pathname === path);

function dataOf(url: URL): object {
  if (url.pathname === '/v1/deliveries') return log.shift() ?? { deliveries: [], nextCursor: null };
  if (url.pathname === '/v1/events') return { events: feed.shift() ?? [], nextCursor: 'next' };
  return { interests: ['*'], health: { parkedSince: null } };
}

beforeEach(() => {
  [log, feed, asked] = [[], [], []];
  mock.method(globalThis, 'fetch', (path: string) => {
    const url = new URL(path, 'http://localhost');
    asked.push(url);
    return Promise.resolve(Response.json({ data: dataOf(url) }));
  });
});
afterEach(() => mock.restoreAll());

test('an event of the span that follows a slightly later one in the feed is counted', async () => {
  feed = [
    [event('a', '2026-11-25T10:30:00Z'), event('b', '2026-11-25T11:00:30Z')],
    [event('c', '2026-11-25T11:00:00Z'), event('d', '2026-11-25T11:01:01Z')],
    [event('never read', '2026-11-25T10:59:00Z')],
  ];
  expect(await countReplay('w', range)).toEqual({ found: 2, isAll: true });
  expect(asOf('/v1/events')).toHaveLength(2);
});

test('an event whose delivery was recorded while the log was read is not counted as without one', async () => {
  const page = (...ids: string[]) => ({ deliveries: ids.map((id) => delivery(id)), nextCursor: null });
  log = [page('a'), page('b', 'a')];
  feed = [['a', 'b', 'c'].map((id) => event(id, '2026-11-25T11:00:00Z'))];
  expect(await countReplay('w', range)).toEqual({ found: 1, isAll: true });
});

test('the events are not read if the log is too long for them to matter', async () => {
  log = Array.from({ length: 20 }, (_, page) => ({
    deliveries: [delivery(`failed ${page}`, 'FAILED')],
    nextCursor: 'next',
  }));
  expect(await countReplay('w', range)).toEqual({ found: 20, isAll: false });
  expect(asked).toHaveLength(20);
});

test('the log is read with the last moment of the span, which a replay includes', async () => {
  await countReplay('w', range);
  expect(asOf('/v1/deliveries')[0]!.searchParams.get('to')).toBe('2026-11-25T11:00:00.001Z');
});
