import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { runOperator } from './run-operator.js';

const operatorToken = 'operator-token-of-this-test';
const maxBodyBytes = 256 * 1024;
type Call = { method: string; path: string; token: string | undefined; body: unknown };
type Reply = [httpStatus: number, body: object | string];
type Event = Record<string, unknown>;

let server: http.Server;
let [url, folder] = ['', ''];
let calls: Call[];
/** It comes before the stand-in; null passes the request on. */
let first: (call: Call) => Reply | null;

const envelope = { version: '1.0.0', timestamp: 1 };
function ok(data: object, code = 200): Reply {
  return [code, { ...envelope, status: code === 201 ? 'CREATED' : 'OK', data }];
}
const doing = { queues: { deliver: { waiting: 3 } }, circuits: [{ webhookId: 'w' }], oldest: null };
const uncalled = { deliveries: 9, isMore: true, shippers: [{ shipperId: 's', deliveries: 9, isMore: true }] };
function no(code: number, status: string, message: string, details?: object[]): Reply {
  return [code, { ...envelope, status, error: { message, requestId: 'req-1', details } }];
}

const eventsIn = (body: unknown) => (body as { events: Event[] }).events;
const result = (event: Event) =>
  event.state === 'LOST'
    ? { error: { status: 'NOT_FOUND', message: 'This shipment was not found.' } }
    : event.state === 'DELIVERED'
      ? { error: { status: 'CONFLICT', message: 'This change of state is not allowed.' } }
      : { eventId: `id-of-${String(event.trackingId)}` };

const id = (digit: number) => `0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5${digit}`;
const audited = {
  entries: [
    {
      at: '2026-11-21T12:00:00+00:00',
      action: 'WEBHOOK_SECRET_ROTATED',
      outcome: 'DONE',
      count: 1,
      actor: { kind: 'USER', name: id(1), address: '203.0.113.7' },
      shipperId: id(2),
      userId: null,
      webhookId: id(3),
      ...{ shipmentId: null, trackingId: null, tokenId: null, fields: [] },
    },
  ],
  nextCursor: 'c-1',
};

const refusedKey = { path: 'events.0.constructor', message: 'is not allowed' };

/** Responds as the operator's API does. */
function standIn({ method, path, token, body }: Call, sizeBytes: number): Reply {
  if (token !== `Bearer ${operatorToken}`) return no(401, 'UNAUTHORIZED', 'The token is wrong.');
  if (sizeBytes > maxBodyBytes) return no(413, 'PAYLOAD_TOO_LARGE', 'The body is too large.');
  if (JSON.stringify(body)?.includes('"constructor"')) {
    return no(400, 'INVALID_REQUEST', 'See details.', [refusedKey]);
  }
  const route = `${method} ${path}`;
  if (route === 'POST /operator/v1/shippers') return ok({ shipperId: 's-1', accountKey: 'key-1' }, 201);
  if (/shippers\/[^/]+\/users$/.test(route))
    return ok({ userId: 'u-1', setPasswordUrl: 'http://x/set' }, 201);
  if (/\/portal-link$/.test(route)) return ok({ url: 'http://x/support' }, 201);
  if (/\/rotate-key$/.test(route)) return ok({ accountKey: 'key-2' });
  if (route === 'GET /operator/v1/audit') return ok(audited);
  if (/\/users\/[^/]+\/password-link$/.test(route)) return ok({ setPasswordUrl: 'http://x/set' }, 201);
  if (/\/shipments\/[^/]+\/events$/.test(route)) return ok({ eventId: 'e-1' }, 202);
  if (route === 'POST /operator/v1/events') return ok({ results: eventsIn(body).map(result) }, 202);
  if (route === 'GET /operator/v1/status') return ok({ ...doing, uncalled });
  return no(404, 'NOT_FOUND', 'No such route.');
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parcelhook-cli-'));
  calls = [];
  first = () => null;
  server = http.createServer((request, response) => {
    void text(request).then((raw) => {
      const call: Call = {
        method: request.method!,
        path: request.url!,
        token: request.headers.authorization,
        body: raw === '' ? undefined : JSON.parse(raw),
      };
      calls.push(call);
      const [httpStatus, body] = first(call) ?? standIn(call, Buffer.byteLength(raw));
      response.writeHead(httpStatus).end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

const failed = (code: number, part: string) => ({ code, stderr: expect.stringContaining(part) });

const operator = (args: string[], env: Record<string, string> = {}, stdin = '') =>
  runOperator(args, { PARCELHOOK_URL: url, OPERATOR_TOKEN: operatorToken, ...env }, stdin);

const ndjson = (lines: (object | string)[]) =>
  lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\r\n');
function file(lines: (object | string)[]): string {
  writeFileSync(join(folder, 'events.ndjson'), ndjson(lines));
  return join(folder, 'events.ndjson');
}
const events = (count: number): Event[] =>
  Array.from({ length: count }, (_, index) => ({ trackingId: `T${index + 1}`, state: 'PICKED_UP' }));
const batches = () => calls.map((call) => eventsIn(call.body).length);

const shipment = '/operator/v1/shipments/T1/events';
const allFields =
  'event send --tracking-id T1 --state LOST --event-id e1 --timestamp 1793000000000 --lat 19.4 --lng -99.1 ' +
  '--anomalies {"late":true} --evidences [1]';
const allFieldsBody = {
  ...{ state: 'LOST', eventId: 'e1', timestamp: 1793000000000, lat: 19.4, lng: -99.1 },
  ...{ anomalies: { late: true }, evidences: [1] },
};
const user = { email: 'a@b.mx', password: 'p' };

describe('requests', () => {
  test.each([
    ['shipper create --name Books', '/operator/v1/shippers', { name: 'Books' }],
    ['user create --id s --email a@b.mx', '/operator/v1/shippers/s/users', { email: 'a@b.mx' }],
    ['shipper rotate-key --shipper s', '/operator/v1/shippers/s/rotate-key', {}],
    ['shipper rotate-key --id s', '/operator/v1/shippers/s/rotate-key', {}],
    ['user create --shipper s --email a@b.mx', '/operator/v1/shippers/s/users', { email: 'a@b.mx' }],
    ['user create --shipper s/1 --email a@b.mx --password p', '/operator/v1/shippers/s%2F1/users', user],
    ['user link --user u-1', '/operator/v1/users/u-1/password-link', {}],
    ['event send --tracking-id T1 --state IN_TRANSIT', shipment, { state: 'IN_TRANSIT' }],
    [allFields, shipment, allFieldsBody],
    ['status', '/operator/v1/status', undefined],
  ])('%s', async (line, path, body) => {
    expect(await operator(line.split(' '))).toMatchObject({ code: 0, stderr: '' });
    const method = body ? 'POST' : 'GET';
    expect(calls).toEqual([{ method, path, token: `Bearer ${operatorToken}`, body }]);
  });

  test('output is aligned text, or JSON with --json in any position', async () => {
    expect((await operator(['status'])).stdout).toMatch(
      /^Queues\n {2}name {5}waiting {2}active {2}delayed {2}error\n {2}deliver {2}3 +- +- +-\n\nOwed to webhooks that are not called\n {2}deliveries {2}9\+\n\nShippers owed the most\n(.*\n)+\nOpen circuits\n(.*\n)+\nOthers\n {2}oldest {2}-\n$/,
    );
    expect(JSON.parse((await operator(['--json', 'status'])).stdout)).toMatchObject({ oldest: null });
    const { stdout } = await operator(['shipper', 'create', '--name', 'N', '--json']);
    expect(JSON.parse(stdout)).toEqual({ shipperId: 's-1', accountKey: 'key-1' });
  });

  test('audit and status fit a terminal of 80 characters', async () => {
    const audit = await operator(['audit'], { COLUMNS: '80' });
    expect(audit.stdout.split('\n')).toEqual([
      '2026-11-21T12:00:00Z  WEBHOOK_SECRET_ROTATED  DONE',
      `  count 1  actor kind USER  actor name ${id(1)}`,
      `  actor address 203.0.113.7  shipper id ${id(2)}`,
      `  webhook id ${id(3)}`,
      'more: --cursor c-1',
      '',
    ]);
    const times = { startedAt: '2026-11-21T12:00:00.123+00:00', seenAt: '2026-11-21T12:00:30+00:00' };
    const running = { host: '0123456789ab', version: '0.1.0', commit: '3e0e04b7d1c2', ...times };
    const probe = { failingSince: '2026-11-21T12:00:00+00:00', nextProbeAt: '2026-11-21T12:10:00+00:00' };
    first = () =>
      ok({
        processes: [
          { ...running, role: 'api', isAlive: true },
          { ...running, role: 'worker', commit: null, isAlive: false },
        ],
        backlog: { sendable: 2, oldestSendableSeconds: 7, waiting: { receiver: 12 } },
        unread: { uncalled: 'the database is gone' },
        uncalled: {
          shippers: [
            { shipperId: id(1), deliveries: 200_000, webhooks: 12, name: 'A very long name of a shipper' },
          ],
        },
        circuits: [{ webhookId: id(2), shipperId: id(3), ...probe }],
        clocks: [
          { host: 'worker-2', role: 'worker', aheadSeconds: 600, seenAt: '2026-11-21T12:00:00+00:00' },
        ],
      });
    const status = await operator(['status'], { COLUMNS: '80' });
    for (const line of status.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(status.stdout).toContain('A very long');
    for (const part of [
      '\n  worker-2  worker  600 s  2026-11-21T12:00:00Z\n',
      `\n  ${id(2)}\n    failing since 2026-11-21T12:00:00Z  next probe at 2026-11-21T12:10:00Z\n    shipper id ${id(3)}\n`,
      '\n  api     0123456789ab  0.1.0    3e0e04b7  2026-11-21T12:00:00Z  alive\n',
      '  seen 12:00:30Z\n\nDeliveries that wait for us\n  sendable         2\n  oldest sendable  7 s\n\nDeliveries that wait for others\n  receiver  12\n',
    ])
      expect(status.stdout).toContain(part);
    expect(status.stdout).toMatch(/^Not read\n {2}uncalled {2}the database is gone\n\nProcesses\n/);
    first = () => null;
    const lines = (await operator(['audit'])).stdout.split('\n');
    expect(lines).toHaveLength(4); // a line each for a program
    expect(lines[0]).toMatch(/actor address +shipper id +webhook id$/); // none that is empty in every line
  });

  test('the account key is still shown if the first user is refused', async () => {
    first = (call) => (call.path.endsWith('/users') ? no(409, 'CONFLICT', 'There is one.') : null);
    const given = ['shipper', 'create', '--name', 'N', '--email', 'ana@example.com'];
    const shown = expect.stringMatching(/CONFLICT[\s\S]*"accountKey":"key-1"/);
    expect(await operator(given)).toMatchObject({ code: 1, stderr: shown });
  });

  test('an address that is none is refused before a shipper is created', async () => {
    const given = ['shipper', 'create', '--name', 'N', '--email', 'nope'];
    expect(await operator(given)).toMatchObject(failed(2, 'It must be an e-mail address'));
    expect(calls).toEqual([]);
  });

  test('the token comes from --token, the environment, a file, or that of embedded mode', async () => {
    writeFileSync(join(folder, 'secrets.json'), JSON.stringify({ OPERATOR_TOKEN: 'from-file' }));
    const fromFile = { OPERATOR_TOKEN: '', DATA_DIR: folder };
    await operator(['status'], fromFile);
    await operator(['status', '--token', 'from-option']);
    writeFileSync(join(folder, 'token'), 'from-secret-file\n');
    await operator(['status'], { ...fromFile, OPERATOR_TOKEN_FILE: join(folder, 'token') });
    expect(calls.map(({ token }) => token)).toEqual(
      ['from-file', 'from-option', 'from-secret-file'].map((token) => `Bearer ${token}`),
    );
  });
});

describe('exit codes', () => {
  test('1 if the service refuses, with the message and every detail', async () => {
    const details = ['email', 'password'].map((path) => ({ path, message: 'must be another' }));
    first = () => no(400, 'INVALID_REQUEST', 'See details.', details);
    const { code, stdout, stderr } = await operator(['user', 'create', '--shipper', 's', '--email', 'x']);
    expect([code, stdout]).toEqual([1, '']);
    for (const part of ['400 INVALID_REQUEST: See details.', 'email: must be', 'password: must', 'req-1']) {
      expect(stderr).toContain(part);
    }
  });

  test('1 with a hint if the token is wrong or another server responds', async () => {
    expect(await operator(['status', '--token', 'wrong'])).toMatchObject(failed(1, '--token'));
    first = () => [200, '<html>'];
    expect(await operator(['status'])).toMatchObject(failed(1, 'Is --url right?'));
  });

  test('1 with what would be right if the address says https and the service speaks http', async () => {
    const { code, stderr } = await operator(['status', '--url', url.replace('http:', 'https:')]);
    expect(code).toBe(1);
    expect(stderr).toContain('speaks http, not https: use http://.');
    expect(stderr).not.toContain('Is the service running?');
  });

  test.each([
    [['shipper', 'create'], '--name'],
    [['frobnicate'], 'frobnicate'],
    [['event'], 'Usage'],
    [['event', 'send', '--tracking-id', 'T', '--state', 'S', '--lat', 'north'], 'must be a number'],
    [['event', 'send', '--tracking-id', 'T', '--state', 'S', '--anomalies', '{'], 'must be JSON'],
    [['event', 'send', '--tracking-id', '..', '--state', 'S'], 'must be an id'],
    [['event', 'load', '/no/such/file'], 'there is no such file'],
    [['event', 'load', '.'], 'is a folder'],
    [['listen', '--forward', 'http://localhost:3000'], 'Put listen first'],
    [['status', '--url', 'not a url'], 'http://localhost:8080'],
    [['status', '--url', 'ftp://x'], 'http://localhost:8080'],
  ])('2 for wrong usage: %j', async (args, part) => {
    expect(await operator(args)).toMatchObject(failed(2, part));
    expect(calls).toEqual([]);
  });

  test('2 if there is no token', async () => {
    const env = { OPERATOR_TOKEN: '', DATA_DIR: folder };
    expect(await operator(['status'], env)).toMatchObject(failed(2, 'npm start'));
    const fromNone = { ...env, OPERATOR_TOKEN_FILE: join(folder, 'none') };
    expect(await operator(['status'], fromNone)).toMatchObject(failed(2, 'none does not exist'));
  });

  test('69 if the service is unreachable', async () => {
    server.close();
    expect(await operator(['status'])).toMatchObject(failed(69, 'cannot be reached (ECONNREFUSED)'));
  });

  test('0 for --help, with examples, and for --help of a command', async () => {
    expect((await operator(['--help'])).stdout).toContain('Examples:');
    const toListen = { code: 0, stdout: 'Run it without operator: parcelhook listen --help\n' };
    expect(await operator(['listen', '--help'])).toMatchObject(toListen);
    expect(await operator(['help', 'listen'])).toMatchObject(toListen);
    const stdout = expect.stringMatching(/--url[\s\S]*Example:/);
    expect(await operator(['event', 'load', '--help'])).toMatchObject({ code: 0, stdout });
  });
});

describe('503', () => {
  const send = ['event', 'send', '--tracking-id', 'T', '--state', 'LOST'];

  test('is retried if the request can be repeated', async () => {
    first = () => (calls.length < 3 ? no(503, 'UNAVAILABLE', 'Away.') : null);
    expect((await operator([...send, '--event-id', 'e1'])).code).toBe(0);
    expect(calls).toHaveLength(3);
  });

  test('is not retried for an event without an id, and is 69', async () => {
    first = () => no(503, 'UNAVAILABLE', 'Away.');
    expect(await operator(send)).toMatchObject(failed(69, '503 UNAVAILABLE: Away.'));
    expect(calls).toHaveLength(1);
  });

  test('is retried for a batch only if every event has an id', async () => {
    first = () => (calls.length < 2 ? no(503, 'UNAVAILABLE', 'Away.') : null);
    const withIds = events(3).map((event, index) => ({ ...event, eventId: `e${index}` }));
    expect((await operator(['event', 'load', file(withIds)])).code).toBe(0);
    calls = [];
    expect((await operator(['event', 'load', file([...withIds, ...events(1)])])).code).toBe(69);
    expect(calls).toHaveLength(1);
  });
});

describe('event load', () => {
  test('sends at most 1,000 events a request, in the order of the file', async () => {
    const { code, stdout } = await operator(['event', 'load', file(events(2_500))]);
    expect([code, stdout]).toEqual([0, 'read      2500\nrecorded  2500\nrefused   0\n']);
    expect(batches()).toEqual([1_000, 1_000, 500]);
    expect(calls.flatMap((call) => eventsIn(call.body))).toEqual(events(2_500));
  });

  test('names the line of every bad or refused event, and records the rest', async () => {
    const [one, two, three] = events(3) as [Event, Event, Event];
    const refused = { ...two, state: 'DELIVERED' };
    const lines = [`\ufeff${JSON.stringify(one)}`, '', 'not json', '[1]', refused, three];
    const { code, stdout, stderr } = await operator(['event', 'load', '-'], {}, ndjson(lines));
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringMatching(/^line 3: is not JSON: /),
      'line 4: must be a JSON object',
      'line 5: CONFLICT: This change of state is not allowed.',
    ]);
    expect(stdout).toBe('read      5\nrecorded  2\nrefused   3\n');
    expect(batches()).toEqual([3]);
  });

  test('names the tracking id of a shipment that was not found', async () => {
    const lost = { trackingId: 'PH404', state: 'LOST' };
    const { stderr } = await operator(['event', 'load', file([...events(1), lost])]);
    expect(stderr).toBe('line 2: PH404: NOT_FOUND: This shipment was not found.\n');
    const { stdout } = await operator(['event', 'load', '--json', file([lost])]);
    expect(JSON.parse(stdout).results).toMatchObject([{ line: 1, trackingId: 'PH404' }]);
  });

  test('--json prints one document with a result per line', async () => {
    const { stdout } = await operator(['event', 'load', '--json', file([...events(1), 'bad'])]);
    expect(JSON.parse(stdout)).toEqual({
      results: [
        { line: 1, eventId: 'id-of-T1' },
        { line: 2, error: { status: 'INVALID_LINE', message: expect.stringMatching('JSON') } },
      ],
      read: 2,
      recorded: 1,
      refused: 1,
    });
    expect(JSON.parse((await operator(['event', 'load', '--json', file([])])).stdout)).toMatchObject({
      read: 0,
    });
  });

  test('bodies stay within 256 KiB, and a line that can never fit is a bad line', async () => {
    const large = events(30).map((event) => ({ ...event, anomalies: 'é'.repeat(10_000) }));
    const tooLarge = { ...events(1)[0], anomalies: 'x'.repeat(maxBodyBytes) };
    const { code, stderr } = await operator(['event', 'load', file([...large, tooLarge, ...events(1)])]);
    expect([code, stderr]).toEqual([1, 'line 31: is too long for one request\n']);
    expect(batches().length).toBeGreaterThanOrEqual(3);
    expect(batches().reduce((sum, size) => sum + size, 0)).toBe(31);
  });

  test('an event for which the service refuses the whole body does not affect the others', async () => {
    const lines = events(20).map((event, index) => (index === 12 ? { ...event, constructor: 1 } : event));
    const { code, stdout, stderr } = await operator(['event', 'load', file(lines)]);
    expect(stderr).toBe('line 13: INVALID_REQUEST: See details. (constructor: is not allowed)\n');
    expect([code, stdout]).toEqual([1, 'read      20\nrecorded  19\nrefused   1\n']);
  });

  test('stops if the service fails and names the unfinished lines', async () => {
    first = () => (calls.length > 1 ? no(503, 'UNAVAILABLE', 'Away.') : null);
    const { code, stdout, stderr } = await operator(['event', 'load', file(events(1_500))]);
    expect([code, stdout]).toEqual([69, 'read      1000\nrecorded  1000\nrefused   0\n']);
    expect(stderr).toContain('Nothing after line 1000 is confirmed.');
  });

  test('a response with another number of results is an error', async () => {
    first = () => ok({ results: [] }, 202);
    expect(await operator(['event', 'load', file(events(2))])).toMatchObject(
      failed(1, 'one result per event'),
    );
  });
});
