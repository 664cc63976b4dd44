import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createClient, type Client, type FollowOptions } from '../../src/client/index.js';
import { credentials, refused, startStandIn, type Call, type Reply, type StandIn } from './stand-in.js';

/** The log; a cursor is a position in it. */
let log: { eventId: string; trackingId: string }[];
let standIn: StandIn;
let client: Client;
/** The outcomes of the next requests; then none. */
let faults: (Reply | 'reset' | null)[];

/** Pages of two, without long polling. */
function feed({ query }: Call): Reply | 'reset' {
  const fault = faults.shift();
  if (fault) return fault;
  const after = query.after === 'latest' ? log.length : Number(query.after ?? 0);
  const events = log.slice(after, after + 2);
  return { data: { events, nextCursor: String(after + events.length) } };
}

beforeEach(async () => {
  log = Array.from({ length: 5 }, (_, index) => ({ eventId: `e${index}`, trackingId: 'PH1' }));
  faults = [];
  standIn = await startStandIn();
  standIn.respond = feed;
  client = createClient({ url: standIn.url, ...credentials });
});
afterEach(() => standIn.close());

async function followToEnd(options: FollowOptions = {}): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of client.events.follow({ after: '0', ...options })) {
    seen.push(event.eventId);
    if (event.eventId === log.at(-1)!.eventId) break;
  }
  return seen;
}

const all = () => log.map(({ eventId }) => eventId);

describe('following the feed', () => {
  test('yields every event once and in order, page after page', async () => {
    expect(await followToEnd({ trackingId: 'PH1' })).toEqual(all());
    expect(standIn.calls[0]!.query).toEqual({
      after: '0',
      trackingId: 'PH1',
      limit: '100',
      key: credentials.key,
    });
    expect(standIn.calls[1]!.query).toMatchObject({ after: '2', trackingId: 'PH1', wait: '30s' });
  });

  test('starts now unless given a cursor or a time', async () => {
    const iterator = client.events.follow()[Symbol.asyncIterator]();
    const first = iterator.next();
    while (standIn.calls.length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
    log.push({ eventId: 'new', trackingId: 'PH2' });
    expect((await first).value).toMatchObject({ eventId: 'new' });
    expect(standIn.calls[0]!.query).toMatchObject({ after: 'latest' });
    expect(standIn.calls[0]!.query).not.toHaveProperty('wait');
    standIn.calls.length = 0;
    await client.events.follow({ from: '2026-11-22T12:00:00Z' })[Symbol.asyncIterator]().next();
    expect(standIn.calls[0]!.query).toMatchObject({ from: '2026-11-22T12:00:00Z' });
    expect(standIn.calls[0]!.query).not.toHaveProperty('after');
  });

  test('resumes after every kind of interruption, and reports it', async () => {
    const broken = [
      refused(503, 'UNAVAILABLE'),
      'reset',
      { status: 502, raw: '' },
      refused(500, 'INTERNAL'),
    ] as const;
    faults = [...broken.slice(0, 2), null, broken[2], null, broken[3]];
    const told: string[] = [];
    const seen = await followToEnd({ onBreak: ({ code }, waitMs) => told.push(`${code} ${waitMs > 0}`) });
    expect(seen).toEqual(all());
    expect(told).toEqual(['UNAVAILABLE true', 'UNREACHABLE true', 'UNEXPECTED_ANSWER true', 'INTERNAL true']);
  });

  test('reports a cursor only after everything before it is handled', async () => {
    const done: string[] = [];
    const kept: [cursor: string, done: number][] = [];
    const stop = new AbortController();
    const onCursor = (cursor: string) => {
      kept.push([cursor, done.length]);
      if (cursor === '5') stop.abort();
    };
    for await (const { eventId } of client.events.follow({ after: '0', onCursor, signal: stop.signal })) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      done.push(eventId);
    }
    expect(done).toEqual(all());
    expect(kept).toEqual([
      ['2', 2],
      ['4', 4],
      ['5', 5],
    ]);
    expect(await followToEnd({ after: kept[1]![0] })).toEqual(['e4']);
  });

  test('ends without an error when stopped, even while it waits', async () => {
    for (const response of [() => 'hang' as const, () => refused(503, 'UNAVAILABLE')]) {
      standIn.respond = response;
      const seen = [];
      for await (const event of client.events.follow({ signal: AbortSignal.timeout(80) })) seen.push(event);
      expect(seen).toEqual([]);
    }
  });

  test.each(['61', '999999999'])('waits as long as configured: %s s', async (seconds) => {
    faults = [refused(503, 'UNAVAILABLE', { 'retry-after': seconds })];
    const waits: number[] = [];
    const stop = new AbortController();
    const onBreak = (_error: unknown, waitMs: number) => {
      waits.push(waitMs);
      setTimeout(() => stop.abort(), 200); // only a timer of its own would make another request
    };
    await followToEnd({ onBreak, signal: stop.signal });
    expect(waits).toEqual([Number(seconds) * 1_000]);
    expect(standIn.calls).toHaveLength(1);
  });

  test('reports a hanging login after the timeout of one try', async () => {
    standIn.login = () => 'hang';
    const hurried = createClient({ url: standIn.url, ...credentials, timeoutMs: 100 });
    const stop = new AbortController();
    const told: [string, number][] = [];
    const onBreak = ({ code }: { code: string }) => {
      told.push([code, standIn.logins.length]);
      stop.abort();
    };
    for await (const event of hurried.events.follow({ onBreak, signal: stop.signal }))
      expect(event).toBe(null);
    expect(told).toEqual([['TIMEOUT', 1]]);
  });

  test('fails with permanent errors, and with errors of its listener', async () => {
    faults = [refused(400, 'INVALID_REQUEST')];
    await expect(followToEnd()).rejects.toMatchObject({ code: 'INVALID_REQUEST', status: 400 });
    const onCursor = () => Promise.reject(new Error('disk full'));
    await expect(followToEnd({ onCursor })).rejects.toThrow('disk full');
  });

  test('makes no rapid requests to a service that returns empty pages at once', async () => {
    for await (const event of client.events.follow({ signal: AbortSignal.timeout(1_500) }))
      expect(event).toBe(null);
    expect(standIn.calls.length).toBeLessThan(6);
  });
});
