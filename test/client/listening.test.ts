import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { PassThrough, type Duplex } from 'node:stream';
import { createClient } from '../../src/client/index.js';
import { askPassword, onEndSignals } from '../../src/client/listen/command.js';
import { forward } from '../../src/client/listen/forward.js';
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

test('--interests warns of a state that the service does not have; a token replaces the log-in', async () => {
  standIn.respond = ({ path }) =>
    path === '/v1/states' ? { data: { states: [{ state: 'CREATED' }, { state: 'DELIVERED' }] } } : 'hang';
  const program = spawn(
    process.execPath,
    ['dist/main.js', 'listen', '--forward', local.url, '--interests', 'CREATED,DELIVERD'],
    {
      env: {
        PATH: process.env.PATH,
        PARCELHOOK_URL: standIn.url,
        PARCELHOOK_TOKEN: 'phk_token',
      },
    },
  );
  let told = '';
  program.stderr.on('data', (text: Buffer) => (told += text.toString()));
  try {
    await until('it warns', () => told.includes('\n'));
    expect(told).toBe('Warning: this service has no state DELIVERD; its states are CREATED, DELIVERED.\n');
    expect(standIn.logins).toEqual([]);
    expect(standIn.calls[0]).toMatchObject({ headers: { authorization: 'Bearer phk_token' } });
  } finally {
    program.kill();
  }
});

describe('the password', () => {
  function ask() {
    const [stdin, stderr, stop] = [new PassThrough(), new PassThrough(), new AbortController()];
    return {
      stdin,
      stop,
      shown: () => String(stderr.read()),
      asked: askPassword(stdin, stderr, stop.signal),
    };
  }

  test('is the typed line, and is not echoed', async () => {
    const { stdin, asked, shown } = ask();
    for (const key of 'horse p\u00e4ss\r') stdin.write(key);
    expect(await asked).toBe('horse p\u00e4ss');
    expect(shown()).toBe('Password: \n');
  });

  test.each([
    ['Ctrl-C', '\x03'],
    ['Ctrl-D', '\x04'],
  ])('is missing after %s', async (_name, key) => {
    const { stdin, asked, shown } = ask();
    stdin.write(key);
    expect(await asked).toBe(null);
    expect(shown()).toBe('Password: \n');
  });

  test('is missing if the caller aborts, before or meanwhile', async () => {
    const { stop, asked } = ask();
    stop.abort();
    expect(await asked).toBe(null);
    expect(await askPassword(new PassThrough(), new PassThrough(), stop.signal)).toBe(null);
  });
});

describe('a local server that responds with 101', () => {
  async function startSwitching() {
    const sockets: Duplex[] = [];
    const server = http.createServer().on('upgrade', (_request, socket: Duplex) => sockets.push(socket));
    // A receiver that treats every request as a WebSocket upgrade.
    server.on('request', ({ socket }) => {
      sockets.push(socket);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const close = () => {
      server.close();
      sockets.forEach((socket) => socket.destroy());
    };
    return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), close };
  }

  test('has not accepted the notification', async () => {
    const { url, close } = await startSwitching();
    const { signal } = new AbortController();
    const result = await forward(url, { headers: {}, body: '{}' }, { timeoutMs: 5_000, signal });
    expect(result).toMatchObject({ ok: false, statusCode: null, errorCode: 'RESET' });
    expect(result.durationMs).toBeLessThan(4_000);
    close();
  });
});

describe('an unreachable local server', () => {
  const call = (url: string) =>
    forward(
      new URL(url),
      { headers: {}, body: '{}' },
      { timeoutMs: 30_000, signal: new AbortController().signal },
    );

  test('is named with what to do, if the failure tells', async () => {
    const plain = http.createServer().listen(0, '127.0.0.1');
    const closed = net.createServer().listen(0, '127.0.0.1');
    await Promise.all([once(plain, 'listening'), once(closed, 'listening')]);
    const hostOf = (server: net.Server) => `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const [plainHost, closedHost] = [hostOf(plain), hostOf(closed)];
    closed.close();
    await once(closed, 'close');
    expect((await call(`http://${closedHost}`)).obstacle).toEqual({
      cause: 'NOTHING_LISTENS',
      message: `Nothing listens at ${closedHost}: start your server.`,
    });
    expect((await call(`https://${plainHost}`)).obstacle).toEqual({
      cause: 'NO_TLS',
      message: `The server at ${plainHost} speaks http, not https: forward to http://${plainHost}.`,
    });
    plain.close();
  });

  test('each cause is printed once, and nothing is called rejected that never arrived', async () => {
    const text: string[] = [];
    const printer = createPrinter((line) => text.push(line));
    const { obstacle, ...result } = await call('http://127.0.0.1:1');
    const event = { at: new Date(), eventId: 'e', sequence: 1, trackingId: 'PH1', state: 'CREATED' };
    for (let count = 0; count < 2; count += 1)
      printer.notified({ ...event, ...result, responseText: null, diagnosis: obstacle });
    expect(text.map((line) => line.replace(/^\S+|\d+ ms/g, '…'))).toEqual([
      '…  CREATED           PH1  refused the connection  …  not delivered\n',
      '… listens at 127.0.0.1:1: start your server.\n',
      '…  CREATED           PH1  refused the connection  …  not delivered\n',
    ]);
    printer.ended({ forwarded: 4, refused: 3, undelivered: 2 });
    expect(text.at(-1)).toBe('Forwarded 4: 1 accepted, 1 rejected, 2 not delivered.\n');
  });

  test('what others wrote cannot steer the terminal, nor turn the order of its text', () => {
    for (const create of [createPrinter, createJsonPrinter]) {
      let text = '';
      create((line) => (text += line)).interrupted('a\u009b2J\u007f\u202eb\nc');
      expect(text).toContain(String.raw`a\u009b2J\u007f\u202eb`);
      expect(text.split('\n')).toHaveLength(2);
    }
  });

  test('is reported in the words of the delivery log', async () => {
    const silent = net.createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    const garbled = net.createServer((socket) => socket.end('no HTTP\r\n\r\n')).listen(0, '127.0.0.1');
    await Promise.all([once(silent, 'listening'), once(garbled, 'listening')]);
    const portOf = (server: net.Server) => (server.address() as AddressInfo).port;
    const codes = await Promise.all(
      [
        'http://no-such-host.invalid',
        `http://127.0.0.1:${portOf(silent)}`,
        `https://127.0.0.1:${portOf(garbled)}`,
        `http://127.0.0.1:${portOf(garbled)}`,
        'http://127.0.0.1:1',
      ].map(async (url) => (await call(url)).errorCode),
    );
    expect(codes).toEqual(['DNS', 'RESET', 'TLS', 'PROTOCOL', 'CONNECT']);
    silent.close();
    garbled.close();
  });
});

describe('Ctrl-C', () => {
  test('ends it cleanly; one more, later, at once', async () => {
    const [signals, told] = [new EventEmitter(), [] as string[]];
    onEndSignals(
      signals,
      () => told.push('stop'),
      (code) => told.push(`exit ${code}`),
    );
    signals.emit('SIGINT', 'SIGINT', 2);
    signals.emit('SIGINT', 'SIGINT', 2); // the same Ctrl-C, through npm
    expect(told).toEqual(['stop', 'stop']);
    await new Promise((resolve) => setTimeout(resolve, 600));
    signals.emit('SIGINT', 'SIGINT', 2);
    signals.emit('SIGTERM', 'SIGTERM', 15);
    expect(told.filter((one) => one !== 'stop')).toEqual(['exit 130', 'exit 143']);
  });
});
