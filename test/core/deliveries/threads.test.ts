import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { appendFileSync, mkdtempSync, readFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as tick } from 'node:timers/promises';
import type { Claim } from '../../../src/engine/outbox/types.js';
import { parseDetail } from '../../../src/engine/send/messages.js';
import { sign } from '../../../src/engine/send/headers.js';
import { newSecret, type OpenTarget } from '../../../src/engine/send/sealing.js';
import {
  createSending,
  type Sending,
  type SendingOptions,
  type Sent,
} from '../../../src/engine/send/threads.js';
import { createLogger } from '../../../src/platform/telemetry/logger.js';
import { createMetrics } from '../../../src/platform/telemetry/metrics.js';
import { startReceiver, type Received, type Receiver } from '../../support/receiver.js';
import { onceAt, programWith } from '../../support/sender-program.js';
import { developmentDestinations } from '../../support/ssrf-corpus.js';

const logger = createLogger('silent');
let receiver: Receiver;
const opened: Sending[] = [];
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  for (const sending of opened.splice(0)) sending.close();
  await receiver.close();
});

const settings = {
  destinations: developmentDestinations,
  dns: { systemToo: false },
  timeoutMs: 2_000,
  version: 'test',
};

function open(threads: number, options: Partial<SendingOptions> = {}): Sending {
  const sending = createSending({
    settings,
    threads,
    logger,
    metrics: createMetrics(),
    ...options,
  });
  opened.push(sending);
  return sending;
}

const secret = newSecret();
const targetOf = (url: string, own: Partial<OpenTarget> = {}): OpenTarget => ({
  url,
  headers: ['x-own', 'yes'],
  secret,
  earlierSecrets: [],
  ...own,
});

const claimOf = (eventId: string, own: Partial<Claim> = {}): Claim => ({
  shipperId: 'shipper',
  deliveryId: eventId,
  webhookId: 'webhook',
  eventId,
  body: JSON.stringify({ tracking_id: eventId, state: 'CREATED' }),
  large: null,
  recordedAt: new Date(),
  shipmentId: null,
  sequence: 3,
  number: 2,
  trigger: 'SCHEDULED',
  failureCount: 0,
  revision: 1,
  ordered: false,
  supersedes: false,
  troubled: false,
  isProbe: false,
  erased: false,
  trace: Buffer.alloc(24),
  ...own,
});

const sentOf = (eventId: string, own: Partial<Sent> = {}): Sent => ({
  claim: claimOf(eventId),
  target: targetOf(receiver.url),
  traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`,
  isTraced: false,
  keepsDetail: true,
  startUntilMs: performance.now() + 5_000,
  mayStart: () => Promise.resolve(null),
  isProved: true,
  ...own,
});

const isSigned = ({ headers, body }: Received, by: string) =>
  headers['webhook-signature'] ===
  sign([by], String(headers['webhook-id']), Number(headers['webhook-timestamp']), body);

test.each([0, 1, 3])('with SEND_THREADS=%i the request and each outcome are the same', async (threads) => {
  const sending = open(threads);
  receiver.reply = ({ headers }) =>
    headers['webhook-id'] === 'refused'
      ? { status: 503, headers: { 'retry-after': '7', 'webhook-delivery': 'disable' }, body: 'not now' }
      : headers['webhook-id'] === 'hangs'
        ? undefined
        : {};
  const closed = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => closed.once('listening', resolve));
  const { port } = closed.address() as net.AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const traced = sentOf('traced', { isTraced: true, isProved: false });
  const nowhere = { target: targetOf(`http://127.0.0.1:${port}/`) };
  const erased = { claim: claimOf('erased', { erased: true }) };
  const outcomes = await Promise.all([
    sending.send(sentOf('well')),
    sending.send(traced),
    sending.send(sentOf('refused', { claim: claimOf('refused', { webhookId: 'other' }) })),
    sending.send(sentOf('hangs', { isProved: false })),
    sending.send(sentOf('nowhere', nowhere)),
    sending.send(sentOf('erased', erased)),
  ]);
  const ms = expect.any(Number);
  const well = {
    ok: true,
    statusCode: 200,
    errorCode: null,
    durationMs: ms,
    phaseEnds: [],
    queuedMs: ms,
  };
  const detailed = outcomes.map(({ detail, ...outcome }) => ({ ...outcome, ...parseDetail(detail) }));
  const asSent = expect.objectContaining({ 'webhook-signature': expect.stringContaining('v1,') });
  expect(detailed).toMatchObject([
    {
      ...well,
      responseBody: 'ok',
      requestHeaders: asSent,
      responseHeaders: expect.objectContaining({ connection: 'keep-alive' }),
    },
    {
      ...well,
      phaseEnds: [
        ['connect', ms],
        ['request', ms],
        ['first byte', ms],
      ],
    },
    { ok: false, statusCode: 503, retryAfter: '7', webhookDelivery: 'disable', responseBody: 'not now' },
    { ok: false, statusCode: null, errorCode: 'TIMEOUT', requestHeaders: asSent },
    { ok: false, errorCode: 'CONNECT', requestHeaders: null },
    { ...well, responseBody: null, responseHeaders: null },
  ]);
  expect(outcomes[0].startedAt.getTime()).toBeGreaterThan(Date.now() - 10_000);
  const [first] = receiver.received;
  expect(first!.headers).toMatchObject({
    'x-own': 'yes',
    'user-agent': 'Parcelhook/test',
    'parcelhook-sequence': '3',
    'parcelhook-attempt': '2',
    traceparent: traced.traceparent,
  });
  expect(receiver.received.every((one) => isSigned(one, secret))).toBe(true);
});

/** Each message to a thread, as the thread has it: which attempts came with a target, and which body was shared. */
function recording() {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'messages-')), 'messages');
  const program = programWith(`({ attempts, permissions }) => {
    const told = attempts.map(([, , target, , , body]) => [target !== null, typeof body]);
    if (told.length + permissions.length > 0) appendFileSync(${JSON.stringify(file)}, JSON.stringify(told) + '\\n');
  }`);
  const messages = () =>
    readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as [boolean, string][]);
  return { program, messages };
}

describe('a message to a thread', () => {
  test('has all attempts that start in one tick, and their target once', async () => {
    const { program, messages } = recording();
    const sending = open(2, { program });
    const target = targetOf(receiver.url);
    const ids = Array.from({ length: 20 }, (_, index) => `event-${index}`);
    await Promise.all(ids.map((id) => sending.send(sentOf(id, { target }))));
    await sending.send(sentOf('later', { target }));
    expect(messages().map((attempts) => attempts.map(([hasTarget]) => hasTarget))).toEqual([
      [true, ...Array<boolean>(19).fill(false)],
      [false],
    ]);
    expect(receiver.received).toHaveLength(21);
  });

  test('has a changed target: the next attempt goes to its address, signed with its secret', async () => {
    const sending = open(2);
    const changed = newSecret();
    await sending.send(sentOf('before'));
    const target = targetOf(`${receiver.url}/new`, { secret: changed });
    await sending.send(sentOf('after', { target }));
    const [before, after] = receiver.received;
    expect([before!.path, after!.path]).toEqual(['/hook', '/hook/new']);
    expect([isSigned(before!, secret), isSigned(after!, changed)]).toEqual([true, true]);
  });

  test('shares a large body, which is sent and signed as it is', async () => {
    const { program, messages } = recording();
    const sending = open(3, { program });
    const body = JSON.stringify({ evidences: 'é'.repeat(20_000) });
    const webhookIds = ['one', 'two', 'three'];
    const outcomes = await Promise.all(
      webhookIds.map((webhookId) =>
        sending.send(sentOf('large', { claim: claimOf('large', { webhookId, body }) })),
      ),
    );
    expect(outcomes.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
    expect(
      messages()
        .flat()
        .map(([, type]) => type),
    ).toEqual(['object', 'object', 'object']);
    expect(receiver.received.map((one) => one.body)).toEqual([body, body, body]);
    expect(receiver.received.every((one) => isSigned(one, secret))).toBe(true);
  });
});

describe.each([0, 2])('an attempt that is late, with SEND_THREADS=%i', (threads) => {
  const late = () => ({ startUntilMs: performance.now() - 1 });

  test('is withheld if it may not start any more', async () => {
    const outcome = await open(threads).send(sentOf('late', late()));
    expect(outcome).toMatchObject({ withheld: true });
    expect(receiver.received).toEqual([]);
  });

  test('is withheld if the permission itself comes too late', async () => {
    const mayStart = () => Promise.resolve(performance.now() - 1);
    expect(await open(threads).send(sentOf('late', { ...late(), mayStart }))).toMatchObject({
      withheld: true,
    });
    expect(receiver.received).toEqual([]);
  });

  test('is sent with a permission, which is asked for once', async () => {
    let asked = 0;
    const mayStart = () => Promise.resolve(performance.now() + 5_000 * (asked += 1));
    expect(await open(threads).send(sentOf('late', { ...late(), mayStart }))).toMatchObject({
      statusCode: 200,
    });
    expect(asked).toBe(1);
  });

  test('ends at its time limit if the question has no answer', async () => {
    const mayStart = () => new Promise<null>(() => undefined);
    const outcome = await open(threads).send(sentOf('late', { ...late(), mayStart }));
    expect(outcome).toMatchObject({ errorCode: 'TIMEOUT' });
    expect(parseDetail(outcome.detail).requestHeaders).toBeNull();
  });
});

test('a question that comes together with the outcome of its attempt is not asked', async () => {
  const together = `(() => {
    const post = parentPort.postMessage.bind(parentPort);
    const held = [];
    parentPort.postMessage = (report) => {
      held.push(...report.questions);
      post({ ...report, questions: report.outcomes.length > 0 ? held.splice(0) : [] });
    };
    return () => undefined;
  })()`;
  let asked = 0;
  const mayStart = () => Promise.resolve((asked += 1));
  const late = sentOf('late', { startUntilMs: performance.now() - 1, mayStart });
  const outcome = await open(1, { program: programWith(together) }).send(late);
  expect(outcome).toMatchObject({ errorCode: 'TIMEOUT' });
  await tick();
  expect(asked).toBe(0);
});

describe('a thread that ends', () => {
  const metrics = createMetrics();
  const lostBy = async (cause: string) =>
    Number(new RegExp(`sender_threads_lost_total{cause="${cause}"} (\\d+)`).exec(await metrics.text())![1]);

  test('loses its attempts and no others; the next ones go out in another', async () => {
    const sending = open(2, {
      program: programWith(onceAt('ends', 'setTimeout(() => process.exit(1), 50);')),
      metrics,
    });
    receiver.reply = ({ headers }) => (headers['webhook-id'] === 'next' ? {} : undefined);
    const proved = sending.send(sentOf('hangs'));
    const [ends, hangs] = await Promise.all([
      sending.send(sentOf('ends', { isProved: false })),
      sending.send(sentOf('hangs', { isProved: false })),
    ]);
    const lost = { ok: false, withheld: false, errorCode: 'LOST', statusCode: null };
    expect([ends, hangs]).toMatchObject([lost, lost]);
    expect(ends.durationMs).toBeGreaterThanOrEqual(49);
    expect(await sending.send(sentOf('next', { isProved: false }))).toMatchObject({ statusCode: 200 });
    expect(await proved).toMatchObject({ errorCode: 'TIMEOUT' });
    expect(await lostBy('exit')).toBe(1);
  });

  test('because its memory is used up is replaced, too', async () => {
    const fills = `({ attempts }) => {
      const all = [];
      if (attempts.some((attempt) => attempt.includes('fills'))) for (;;) all.push(Array(5e5).fill(0.5));
    }`;
    const sending = open(1, { program: programWith(fills), metrics });
    expect(await sending.send(sentOf('fills'))).toMatchObject({ errorCode: 'LOST' });
    expect(await sending.send(sentOf('next'))).toMatchObject({ statusCode: 200 });
    expect(await lostBy('memory')).toBe(1);
  });

  test('as soon as it starts keeps what waits for it, and is started once a second', async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'starts-')), 'starts');
    const program = programWith('() => undefined');
    appendFileSync(
      program,
      `appendFileSync(${JSON.stringify(file)}, 'x'); if (readFileSync(${JSON.stringify(file)}).length < 3) process.exit(1);`,
    );
    const sending = open(1, { program });
    const outcomes: (string | null)[] = [];
    const startedAt = performance.now();
    while (outcomes.at(-1) !== null) outcomes.push((await sending.send(sentOf('event'))).errorCode);
    expect(outcomes).toEqual(['LOST', 'LOST', null]);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(2_000);
    expect(receiver.received).toHaveLength(1);
  });

  test('before it has started keeps its attempts for no longer than one lasts: they were not made', async () => {
    const impatient = { ...settings, timeoutMs: 500 };
    const sending = open(1, { program: 'not an absolute path', settings: impatient });
    expect(await sending.send(sentOf('event'))).toMatchObject({ withheld: true });
  });

  test('with its process takes its attempts with it', async () => {
    const sending = open(2);
    receiver.reply = () => undefined;
    const outcome = sending.send(sentOf('hangs'));
    await receiver.waitFor(1);
    sending.close();
    expect(await outcome).toMatchObject({ errorCode: 'LOST' });
    expect(await sending.send(sentOf('too late'))).toMatchObject({ errorCode: 'LOST' });
  });
});

test('the busy time and the delay of each thread are figures', async () => {
  const metrics = createMetrics();
  const sending = open(3, { metrics });
  await sending.send(sentOf('event', { isProved: false }));
  const text = await metrics.text();
  const of = (name: string) =>
    new RegExp(`sender_thread_${name}{thread="others"} ([\\d.e-]+)`).exec(text)![1];
  expect(Number(of('busy_seconds_total'))).toBeGreaterThan(0);
  expect(Number(of('delay_seconds'))).toBeGreaterThan(0);
  for (const thread of ['proved-1', 'proved-2'])
    expect(text).toContain(`parcelhook_sender_thread_busy_seconds_total{thread="${thread}"} 0`);
});

test('a host has its proved receivers in one thread, where their connections are used again', async () => {
  const metrics = createMetrics();
  const sending = open(4, { metrics });
  for (const id of ['one', 'two', 'three'])
    await sending.send(sentOf(id, { target: targetOf(`${receiver.url}/${id}`) }));
  const idle = /sender_thread_busy_seconds_total{thread="proved-\d"} 0$/gm;
  expect((await metrics.text()).match(idle)).toHaveLength(2);
});
