import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { createClient } from '../../src/client/index.js';
import { listen } from '../../src/client/listen/listen.js';
import type { Signing } from '../../src/client/listen/options.js';
import { createJsonPrinter, createPrinter } from '../../src/client/listen/print.js';
import { until } from '../support/until.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
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

function start(createdBy: typeof createPrinter, since?: Date, signing: Signing = { secret, given: null }) {
  const lines: string[] = [];
  const printer = createdBy((text) => lines.push(text.trimEnd()));
  const client = createClient({ url: standIn.url, ...credentials, retries: 0 });
  const options = {
    ...{ url: standIn.url, forward: new URL(local.url), signing, json: false },
    ...{ key: 'k', email: 'e', interests: undefined, since },
  };
  return { lines, done: listen(client, options, printer, stop.signal) };
}

const page = (nextCursor: string, ...events: object[]): Reply => ({ data: { events, nextCursor } });
const gone: Reply = {
  status: 400,
  error: { code: 'INVALID_REQUEST', details: [{ path: 'after', message: 'is not of this database' }] },
};

/** A feed by cursor or start time; other cursors are gone. */
const feedOf =
  (pages: Record<string, Reply>, from: (moment: string) => Reply) =>
  ({ query }: Call): Reply | 'hang' => {
    if (query.from !== undefined) return from(query.from);
    if (query.after === 'end') return 'hang';
    return pages[query.after!] ?? gone;
  };

const forwardedIds = () => local.received.map(({ headers }) => headers['webhook-id']);

test('after a restore of the feed it resumes a minute before its last event, each event once', async () => {
  const asked: string[] = [];
  const before = [eventOf('e1', 0), eventOf('e2', 90), eventOf('e3', 91)];
  standIn.respond = feedOf({ latest: page('a'), a: page('lost', ...before) }, (moment) => {
    asked.push(moment);
    return page('end', eventOf('late', 80), before[1]!, eventOf('e4', 95), before[2]!);
  });
  const { lines, done } = start(createPrinter);
  await until('all are forwarded', () => lines.filter((line) => line.includes('PH1')).length === 5);
  stop.abort();
  await done;
  expect(forwardedIds()).toEqual(['e1', 'e2', 'e3', 'late', 'e4']);
  expect(asked).toEqual(['2026-11-22T12:00:31.000Z']);
  expect(lines).toContain(
    'The position in the feed is no longer valid (is not of this database). Resuming from 2026-11-22T12:00:31.000Z, without the events already forwarded.',
  );
  expect(lines.at(-1)).toBe('Forwarded 5: 5 accepted, 0 rejected, 0 not delivered.');
});

test('never resumes before its first event', async () => {
  const asked: string[] = [];
  standIn.respond = feedOf({ latest: page('lost', eventOf('e1', 0)) }, (moment) => {
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

test.each([undefined, new Date(atMs)])('restarts as configured if nothing came yet: %s', async (since) => {
  let looks = 0;
  const first = () => (looks++ === 0 ? page('lost') : page('end', eventOf('e1', 0)));
  standIn.respond = (call) => (call.query.after === 'latest' ? first() : feedOf({}, first)(call));
  const { lines, done } = start(createJsonPrinter, since);
  await local.waitFor(1);
  stop.abort();
  await done;
  const told = lines.map((line) => JSON.parse(line) as { type: string; from?: string | null });
  expect(told.find(({ type }) => type === 'placeGone')).toMatchObject({ from: since?.toISOString() ?? null });
  expect(standIn.calls[0]!.query.from).toBe(since?.toISOString());
});

test('reports at the first failure that the service cannot be reached yet, once', async () => {
  let logins = 0;
  standIn.login = () =>
    logins++ < 2 ? refused(503, 'UNAVAILABLE') : { data: { token: 't', expiresIn: '3600' } };
  standIn.respond = feedOf({ latest: page('end', eventOf('e1', 0)) }, () => gone);
  const { lines, done } = start(createPrinter);
  await local.waitFor(1);
  stop.abort();
  await done;
  expect(lines[0]).toMatch(/^The service cannot be reached yet: No\. Retrying in 1 s\.$/);
  expect(lines[1]).toMatch(/^Listening to /);
});

test('--interests warns of a state that the service does not have', async () => {
  standIn.respond = ({ path }) =>
    path === '/v1/states' ? { data: { states: [{ state: 'CREATED' }, { state: 'DELIVERED' }] } } : 'hang';
  const program = spawn(
    process.execPath,
    ['dist/main.js', 'listen', '--forward', local.url, '--interests', 'CREATED,DELIVERD'],
    {
      env: {
        PATH: process.env.PATH,
        PARCELHOOK_URL: standIn.url,
        PARCELHOOK_KEY: 'k',
        PARCELHOOK_EMAIL: 'e',
        PARCELHOOK_PASSWORD: 'p',
      },
    },
  );
  let told = '';
  program.stderr.on('data', (text: Buffer) => (told += text.toString()));
  try {
    await until('it warns', () => told.includes('\n'));
    expect(told).toBe('Warning: this service has no state DELIVERD; its states are CREATED, DELIVERED.\n');
  } finally {
    program.kill();
  }
});
