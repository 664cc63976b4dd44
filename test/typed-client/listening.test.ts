import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createClient } from '../../src/client/index.js';
import { listen } from '../../src/client/listen/listen.js';
import { createJsonPrinter, createPrinter } from '../../src/client/listen/print.js';
import { until } from '../flows/support.js';
import { startReceiver, type Receiver } from '../receiver.js';
import { credentials, refused, startStandIn, type Call, type Reply, type StandIn } from './stand-in.js';

let standIn: StandIn;
let local: Receiver;
let stop: AbortController;

beforeEach(async () => {
  [standIn, local] = await Promise.all([startStandIn(), startReceiver()]);
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  standIn.close();
  await local.close();
});

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const atMs = Date.parse('2026-11-22T12:00:00Z');

const eventOf = (eventId: string, seconds: number) => ({
  eventId,
  sequence: 1,
  trackingId: 'PH1',
  state: 'CREATED',
  recordedAt: new Date(atMs + seconds * 1_000).toISOString(),
  notification: { state: 'CREATED' },
});

/** Forwards what the stand-in's feed has; what it prints. */
function start(createdBy: typeof createPrinter, since?: Date) {
  const lines: string[] = [];
  const printer = createdBy((text) => lines.push(text.trimEnd()));
  const client = createClient({ url: standIn.url, ...credentials, retries: 0 });
  const options = {
    ...{ url: standIn.url, forward: new URL(local.url), secret, json: false },
    ...{ key: 'k', email: 'e', interests: undefined, since },
  };
  return { lines, done: listen(client, options, printer, stop.signal) };
}

const page = (nextCursor: string, ...events: object[]): Reply => ({ data: { events, nextCursor } });
const gone: Reply = {
  status: 400,
  error: { code: 'INVALID_REQUEST', details: [{ path: 'after', message: 'is not of this database' }] },
};

/** A feed by its cursor, or by the moment that it is asked for; elsewhere it is gone. */
const feedOf =
  (pages: Record<string, Reply>, from: (moment: string) => Reply) =>
  ({ query }: Call): Reply | 'hang' => {
    if (query.from !== undefined) return from(query.from);
    if (query.after === 'end') return 'hang';
    return pages[query.after!] ?? gone;
  };

const forwardedIds = () => local.received.map(({ headers }) => headers['webhook-id']);

test('goes on from a minute before its last event where the feed was restored, each event once', async () => {
  const asked: string[] = [];
  const before = [eventOf('e1', 0), eventOf('e2', 90), eventOf('e3', 91)];
  standIn.answer = feedOf({ latest: page('a'), a: page('lost', ...before) }, (moment) => {
    asked.push(moment);
    return page('end', eventOf('late', 80), before[1]!, eventOf('e4', 95), before[2]!);
  });
  const { lines, done } = start(createPrinter);
  await until('all are told', () => lines.filter((line) => line.includes('PH1')).length === 5);
  stop.abort();
  await done;
  expect(forwardedIds()).toEqual(['e1', 'e2', 'e3', 'late', 'e4']);
  expect(asked).toEqual(['2026-11-22T12:00:31.000Z']);
  expect(lines).toContain(
    'The place in the feed is gone (is not of this database). It goes on from 2026-11-22T12:00:31.000Z, without what was forwarded already.',
  );
  expect(lines.at(-1)).toBe('Forwarded 5; 0 of them were not accepted.');
});

test('never goes back before its first event', async () => {
  const asked: string[] = [];
  standIn.answer = feedOf({ latest: page('lost', eventOf('e1', 0)) }, (moment) => {
    asked.push(moment);
    return page('end', eventOf('e1', 0), eventOf('e2', 1));
  });
  const { done } = start(createPrinter);
  await local.waitFor(2);
  stop.abort();
  await done;
  expect(forwardedIds()).toEqual(['e1', 'e2']);
  expect(asked).toEqual(['2026-11-22T12:00:00.000Z']);
});

test.each([undefined, new Date(atMs)])('begins as at first where nothing came yet: %s', async (since) => {
  let looks = 0;
  const first = () => (looks++ === 0 ? page('lost') : page('end', eventOf('e1', 0)));
  standIn.answer = (call) => (call.query.after === 'latest' ? first() : feedOf({}, first)(call));
  const { lines, done } = start(createJsonPrinter, since);
  await local.waitFor(1);
  stop.abort();
  await done;
  const told = lines.map((line) => JSON.parse(line) as { type: string; from?: string | null });
  expect(told.find(({ type }) => type === 'placeGone')).toMatchObject({ from: since?.toISOString() ?? null });
  expect(standIn.calls[0]!.query.from).toBe(since?.toISOString());
});

test('says at the first failure that the service cannot be reached yet, and once', async () => {
  let logins = 0;
  standIn.login = () =>
    logins++ < 2 ? refused(503, 'UNAVAILABLE') : { data: { token: 't', expiresIn: '3600' } };
  standIn.answer = feedOf({ latest: page('end', eventOf('e1', 0)) }, () => gone);
  const { lines, done } = start(createPrinter);
  await local.waitFor(1);
  stop.abort();
  await done;
  expect(lines[0]).toMatch(/^The service cannot be reached yet: No\. Next try in 1 s\.$/);
  expect(lines[1]).toMatch(/^Listening to /);
});
