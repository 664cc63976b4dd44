import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { runOperator } from './run-operator.js';

let server: http.Server;
let url: string;
let requested: string[];
/** The response of a stand-in of the service to every request. */
let data: object;

beforeAll(async () => {
  server = http.createServer(({ method, url: path }, response) => {
    requested.push(`${method} ${path}`);
    response.end(JSON.stringify({ version: '1.0.0', timestamp: 1, status: 'OK', data }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  requested = [];
  data = { deliveries: [], shipments: [], webhooks: [], nextCursor: null };
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

const operator = (line: string, env: Record<string, string> = {}) =>
  runOperator(line.split(' '), { PARCELHOOK_URL: url, OPERATOR_TOKEN: 'token-of-this-test', ...env });

test.each([
  ['delivery list --shipper s', 'deliveries?shipperId=s'],
  [
    'delivery list --id s --webhook w --event e --shipper-tracking-id r --state LOST --status HELD --status-code 500 ' +
      '--error-code TLS --from 2026-11-21 --to 2026-11-22 --limit 9 --cursor c',
    'deliveries?shipperId=s&webhookId=w&eventId=e&shipperTrackingId=r&state=LOST&status=HELD' +
      '&statusCode=500&errorCode=TLS&from=2026-11-21&to=2026-11-22&limit=9&cursor=c',
  ],
  ['delivery list --tracking-id T1', 'deliveries?trackingId=T1'],
  ['delivery show --delivery d/1', 'deliveries/d%2F1'],
  ['delivery show d/1 --attempts-cursor c', 'deliveries/d%2F1?attemptsCursor=c'],
  ['delivery show --delivery d --attempts-cursor c', 'deliveries/d?attemptsCursor=c'],
  [
    'shipment list --shipper s --shipper-tracking-id r --state LOST --from 2026-11-21 --to 2026-11-22 --limit 9',
    'shipments?shipperId=s&shipperTrackingId=r&state=LOST&from=2026-11-21&to=2026-11-22&limit=9',
  ],
  ['webhook top', 'webhooks'],
  ['webhook top --sort slow --limit 9', 'webhooks?sort=slow&limit=9'],
  ['webhook list --shipper s --sort backlog', 'webhooks?shipperId=s&sort=backlog'],
])('%s', async (line, path) => {
  expect(await operator(line)).toMatchObject({ code: 0, stderr: '' });
  expect(requested).toEqual([`GET /operator/v1/${path}`]);
  expect(JSON.parse((await operator(`${line} --json`)).stdout)).toEqual(data);
});

test.each([
  ['shipper suspend', '--shipper', 'PATCH shippers/x'],
  ['shipper rotate-key', '--id', 'POST shippers/x/rotate-key'],
  ['user link', '--user', 'POST users/x/password-link'],
  ['user remove --yes', '--user', 'DELETE users/x'],
  ['webhook pause', '--webhook', 'POST webhooks/x/pause'],
  ['webhook list', '--shipper', 'GET webhooks?shipperId=x'],
  ['event send --state LOST', '--tracking-id', 'POST shipments/x/events'],
  ['shipment erase --yes', '--tracking-id', 'POST shipments/x/erase'],
  ['delivery show', '--delivery', 'GET deliveries/x'],
  ['redeliver', '--delivery', 'POST deliveries/x/redeliver'],
  ['replay show', '--id', 'GET replays/x'],
])('%s takes an id as it was printed, with or without %s', async (line, option, request) => {
  for (const id of ['x', `${option} x`]) expect((await operator(`${line} ${id}`)).code).toBe(0);
  expect(requested).toEqual(Array(2).fill(request.replace(' ', ' /operator/v1/')));
});

test('the audit log names a shipment by the tracking id that the commands take', async () => {
  data = { entries: [{ action: 'SHIPMENT_ERASED', shipmentId: 's-1', trackingId: 'PH1' }], nextCursor: null };
  const { stdout } = await operator('audit');
  expect(stdout).toContain('PH1');
  expect(stdout).not.toContain('s-1');
});

test('fields are named in words, and values have units or are yes and no; the JSON is that of the API', async () => {
  const shippers = [{ shipperId: 's', name: 'Acme', bytes: 9, isLimited: true }];
  data = { lag: { oldestDueSeconds: 3.2 }, storedBytes: { shippers }, versions: { queueEngine: 'redis' } };
  expect((await operator('status')).stdout).toBe(
    'Lag\n  oldest due  3.2 s\n\n' +
      'Bytes stored today\n  name  bytes  limited  shipper id\n  Acme  9      yes      s\n\n' +
      'Versions\n  queue engine  redis\n',
  );
  expect(JSON.parse((await operator('status --json')).stdout)).toEqual(data);
  data = { userId: 'u', setPasswordUrl: 'http://x/set' };
  expect((await operator('user link u')).stdout).toBe('user id        u\npassword link  http://x/set\n');
  data = { webhookId: 'w', headers: { 'X-Is.ApiKeyMs': '*' } };
  expect((await operator('webhook pause w')).stdout).toBe(
    'webhook id             w\nheaders X-Is.ApiKeyMs  *\n',
  );
});

test('an empty page that is not the last one still says how to go on', async () => {
  data = { deliveries: [], nextCursor: 'c-1' };
  expect((await operator('delivery list --shipper s')).stdout).toBe('none\nmore: --cursor c-1\n');
});

test.each([
  ['delivery list', 'Give --shipper or --tracking-id'],
  ['delivery show', 'Give the id of the delivery once, with or without --delivery'],
  ['webhook pause w --webhook x', 'Give the id of the webhook once'],
  ['shipment list', '--shipper'],
  ['webhook top --limit many', 'must be a whole number'],
  ['webhook list', '--shipper'],
  ['webhook lsit', "unknown command 'lsit'; the commands: pause, resume, top, list"],
  ['webhooks', "unknown command 'webhooks'; the commands: shipper, user, audit"],
  ['replay frob', "unknown command 'frob'; the commands: show, cancel"],
  ['--json replay frob', "unknown command 'frob'; the commands: show, cancel"],
  ['help frob', "unknown command 'frob'; the commands: shipper, user, audit"],
  ['help webhook lsit', "unknown command 'lsit'; the commands: pause, resume, top, list"],
  ['--json help frob', "unknown command 'frob'; the commands: shipper, user, audit"],
  ['webhook help frob', "unknown command 'frob'; the commands: pause, resume, top, list"],
  ['--url x webhook lsit --help', "unknown command 'lsit'; the commands: pause, resume, top, list"],
  ['replay --webhook show frob --help', "unknown command 'frob'; the commands: show, cancel"],
  ['webhook lsit --help', "unknown command 'lsit'; the commands: pause, resume, top, list"],
  ['explain', 'Give --delivery'],
  ['explain ORDER-1', "If it is a shipper's own number, give --shipper, too."],
])('%s is wrong usage: 2, without a request', async (line, part) => {
  expect(await operator(line)).toMatchObject({ code: 2, stderr: expect.stringContaining(part) });
  expect(requested).toEqual([]);
});

test.each([
  [
    'explain 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a51',
    'deliveries/0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a51/explanation',
  ],
  ['explain PH1', 'deliveries?trackingId=PH1&limit=250'],
  ['explain ORDER-1 --shipper s', 'deliveries?shipperId=s&shipperTrackingId=ORDER-1&limit=250'],
])('%s finds out what its id is', async (line, path) => {
  expect(await operator(line)).toMatchObject({ code: 0, stderr: '' });
  expect(requested).toEqual([`GET /operator/v1/${path}`]);
});

/** The commands without further ones below them. */
async function commandsBelow(command: string): Promise<string[]> {
  const { stdout } = await operator(`${command} --help`.trim());
  const list = stdout.split('\nCommands:\n')[1]?.split('\n\n')[0] ?? '';
  const names = [...list.matchAll(/^ {2}([a-z-]+)/gm)];
  const below = names
    .map(([, name]) => `${command} ${name}`.trim())
    .filter((name) => !/help$|^listen/.test(name));
  return below.length === 0 ? [command] : (await Promise.all(below.map(commandsBelow))).flat();
}

test('the help of every command has an example, and breaks between words at the width of the terminal', async () => {
  const commands = await commandsBelow('');
  expect(commands).toEqual(expect.arrayContaining(['status', 'event load', 'shipper portal-link']));
  for (const command of commands) {
    const env = { npm_lifecycle_event: 'operator' };
    const help = async (COLUMNS: string) => (await operator(`${command} --help`, { ...env, COLUMNS })).stdout;
    const [narrow, wide] = [await help('60'), await help('200')];
    const group = command.split(' ')[0];
    expect(wide).toMatch(new RegExp(`Examples?:\\n  npm run (--silent )?operator -- ${group}`));
    expect(narrow.split('\n').filter((line) => line.length > 60)).toEqual([]);
    expect(narrow.split(/[\\\s]+/)).toEqual(wide.split(/\s+/));
  }
});

test('the examples of a help can be pasted where there is no npm, as in a container', async () => {
  const { stdout } = await operator('help webhook pause');
  expect(stdout).toContain('\nExample:\n  parcelhook operator webhook pause <webhookId>\n');
  for (const line of ['webhook pause --help', 'webhook help pause', '--json help webhook pause'])
    expect((await operator(line)).stdout).toBe(stdout);
  expect((await operator('--help')).stdout).toContain('\nIds are printed whole, and ');
});

describe('on a terminal of 120 characters', () => {
  const id = (digit: number) => `0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5${digit}`;
  const [at, toSecond] = ['2026-11-21T12:00:00+00:00', '2026-11-21T12:00:00Z'];
  const trackingId = 'PH1M7YZMHG0R8EB1NC38';
  const shown = async (line: string) => {
    const lines = (await operator(line, { COLUMNS: '120' })).stdout.split('\n');
    for (const one of lines) expect(one.length).toBeLessThanOrEqual(120);
    return lines;
  };

  test('a list of deliveries fits', async () => {
    const lastAttempt = { statusCode: null, errorCode: 'ADDRESS_DENIED' };
    const delivery = { deliveryId: id(1), status: 'SUCCEEDED', state: 'OUT_FOR_DELIVERY', lastAttempt };
    const more = { createdAt: at, webhookId: id(2), trackingId, attemptCount: 9, heldBy: null };
    data = { deliveries: [{ ...delivery, ...more }], nextCursor: 'c-1' };
    expect(await shown('delivery list --shipper s')).toEqual([
      `${id(1)}  SUCCEEDED  OUT_FOR_DELIVERY`,
      `  error code ADDRESS_DENIED  created at ${toSecond}  attempt count 9  tracking id ${trackingId}`,
      `  webhook id ${id(2)}`,
      'more: --cursor c-1',
      '',
    ]);
  });

  test('a delivery that is tried again is retrying', async () => {
    const delivery = { deliveryId: id(1), status: 'PENDING', state: 'LOST', createdAt: at };
    const of = (attemptCount: number) => ({ ...delivery, attemptCount });
    data = { deliveries: [of(2), of(0)], nextCursor: null };
    const statuses = (await shown('delivery list --shipper s')).flatMap(
      (line) => /PENDING|RETRYING/.exec(line) ?? [],
    );
    expect(statuses).toEqual(['RETRYING', 'PENDING']);
  });

  test('the top webhooks fit, with what is owed to them and how much fails', async () => {
    const webhook = { webhookId: id(2), shipperId: id(3), status: 'ACTIVE', circuit: 'OPEN' };
    const figures = { pendingCount: 800, isMore: true, failureRate: 0.996, p95Ms: 15_000 };
    data = { webhooks: [{ ...webhook, ...figures, shipperName: 'Acme' }] };
    expect(await shown('webhook top')).toEqual([
      `${id(2)}  ACTIVE`,
      `  circuit OPEN  pending 800+  failed 100%  p95 15000 ms  shipper id ${id(3)}`,
      '  shipper name Acme',
      '',
    ]);
  });

  test('what a shipment waits for is said with the ids of its deliveries, to send them again', async () => {
    const explanation = {
      deliveryId: id(1),
      webhookId: id(2),
      state: 'OUT_FOR_DELIVERY',
      why: 'W.',
      next: 'N.',
    };
    data = { deliveries: [{ deliveryId: id(1), status: 'HELD' }], ...explanation };
    expect(await shown('explain PH1')).toEqual([
      `OUT_FOR_DELIVERY to webhook ${id(2)},`,
      `  delivery ${id(1)}:`,
      'W.',
      'Next: N.',
      '',
    ]);
  });

  test('a list of shipments fits', async () => {
    const times = { acceptedAt: at, updatedAt: at };
    data = {
      shipments: [{ trackingId, state: 'OUT_FOR_DELIVERY', ...times, shipperTrackingId: 'ORDER-1001' }],
      nextCursor: null,
    };
    expect(await shown('shipment list --shipper s')).toEqual([
      expect.stringMatching(/^tracking id +state +accepted at +updated at +shipper tracking id$/),
      `${trackingId}  OUT_FOR_DELIVERY  ${toSecond}  ${toSecond}  ORDER-1001`,
      '',
    ]);
  });

  test('a delivery has its facts, its payload and each attempt under a heading', async () => {
    const headers = { requestHeaders: { 'webhook-id': 'e-1' }, responseHeaders: null };
    const waitedMs = { turn: 0, receiver: 12, us: 3 };
    const attempt = { trigger: 'SCHEDULED', durationMs: 6, startedAt: at, errorDetail: null, ...headers };
    data = {
      ...{ deliveryId: id(1), status: 'PENDING', state: 'LOST', attemptCount: 2, heldBy: null },
      lastAttempt: { startedAt: at, statusCode: 500 },
      payload: {
        state: 'LOST',
        label_id: 'A\nstate  DELIVERED',
        anomalies: null,
        evidences: [{ isSigned: true }],
      },
      attempts: [
        {
          number: 2,
          ...attempt,
          statusCode: 500,
          errorCode: 'HTTP_STATUS',
          waitedMs,
          responseBody: `<p>\n${'so long '.repeat(12)}`,
        },
        { number: 1, ...attempt, statusCode: null, errorCode: 'TIMEOUT', waitedMs: null, responseBody: null },
      ],
      nextAttemptsCursor: 'c-1',
    };
    const { stdout } = await operator('delivery show --delivery d', { COLUMNS: '80' });
    expect(stdout.split('\n')).toEqual([
      `Delivery ${id(1)}`,
      '  status         RETRYING',
      '  state          LOST',
      '  attempt count  2',
      '',
      'Payload',
      '  state                 LOST',
      '  label_id              A',
      '                        state  DELIVERED', // not like a field
      '  anomalies             -',
      '  evidences.0.isSigned  true', // as the receiver gets it
      '',
      'Attempt 2',
      `  started at   ${toSecond}`,
      '  status code  500',
      '  error code   HTTP_STATUS',
      '  trigger      SCHEDULED',
      '  duration     6 ms',
      '  waited       receiver 12 ms, us 3 ms',
      '',
      '  Request headers',
      '    webhook-id  e-1',
      '',
      '  Response body',
      '    <p>',
      '    so long so long so long so long so long so long so long so long so long so',
      '    long so long so long',
      '',
      'Attempt 1',
      `  started at  ${toSecond}`,
      '  error code  TIMEOUT',
      '  trigger     SCHEDULED',
      '  duration    6 ms',
      '',
      '  Request headers',
      '    webhook-id  e-1',
      'more: --attempts-cursor c-1',
      '',
    ]);
  });
});
