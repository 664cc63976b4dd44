import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  createAgreements,
  createSharing,
  type AgreementOptions,
} from '../../../src/engine/attempt/agreements.js';
import type { AttemptOutcome } from '../../../src/engine/send/messages.js';
import { dueSinceUnknown } from '../../../src/engine/outbox/types.js';
import { Paces } from '../../../src/engine/schedule/pace.js';
import { readBacklog } from '../../../src/observe/owed.js';
import { recordAll } from '../../support/core/acts.js';
import { openSending, startDispatcher } from '../../support/core/dispatcher.js';
import { setUpRaces, world } from '../../support/core/race.js';
import { addShipment, addWebhook, logger, outboxOf } from '../../support/core/world.js';
import { type Received, type Receiver, startReceiver } from '../../support/receiver.js';
import { until } from '../../support/until.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts, destinations, senders');

const perSecond = 10;
const owed = 60;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
beforeEach(() => void receiver.received.splice(0));
afterAll(() => receiver?.close());

const challengeOf = ({ headers }: Received) => headers['webhook-challenge'] as string | undefined;
const challenges = () => receiver.received.filter((one) => challengeOf(one) !== undefined);

interface Options {
  agreed?: string[];
  /** The webhooks whose address names another host by now. */
  moved?: string[];
  /** Awaited while an attempt to challenge is made. */
  meanwhile?: (webhookId: string) => Promise<unknown>;
  starts?: AgreementOptions['starts'];
}

const soon = { untilMs: (issuedAt: number) => issuedAt + 500 };
const attempted: AttemptOutcome[] = [];

function start({ agreed = [], moved = [], meanwhile, starts = soon }: Options = {}) {
  const sending = openSending();
  const targetsBut = (elsewhere: string[], opening?: (webhookId: string) => Promise<unknown>) => ({
    of: async (webhook: { webhookId: string; revision: number }) => {
      await opening?.(webhook.webhookId);
      const url = elsewhere.includes(webhook.webhookId)
        ? receiver.url.replace('127.0.0.1', 'localhost')
        : receiver.url;
      const target = { url, headers: ['x-own', 'yes'], secret: 'whsec_c2VjcmV0', earlierSecrets: [] };
      return { ...webhook, storedAddress: url, maxPerSecond: null, open: () => target };
    },
  });
  const paces = new Paces(perSecond, agreed);
  const agree = createAgreements({
    leaseDb: world.db,
    targets: targetsBut(moved, meanwhile),
    starts,
    sending: {
      send: async (sent) => {
        const outcome = await sending.send(sent);
        attempted.push(outcome);
        return outcome;
      },
    },
    logger,
  });
  const targets = targetsBut([]);
  return startDispatcher(world, receiver.url, { concurrency: 100, targets, sending, paces, agree });
}

/** Owes each of two webhooks half of it, and returns these. */
async function owe(): Promise<string[]> {
  await world.sql('truncate webhooks cascade');
  const webhookIds = [await addWebhook(world), await addWebhook(world)];
  const shipments: [string, string][] = [];
  while (shipments.length < owed / 2) shipments.push([await addShipment(world), 'CREATED']);
  await recordAll(world.db, shipments);
  return webhookIds;
}

test('a receiver that agrees, in a header or as the body, gets all that waits, and no process asks it again', async () => {
  for (const how of ['header', 'body'] as const) {
    await world.sql('truncate destinations');
    receiver.received.splice(0);
    receiver.reply = (request) => {
      const challenge = challengeOf(request);
      if (challenge === undefined) return {};
      return how === 'body' ? { body: `${challenge}\n` } : { headers: { 'webhook-challenge': challenge } };
    };
    for (let process = 1; process <= 2; process += 1) {
      const webhookIds = await owe();
      const dispatcher = start();
      const startedAt = performance.now();
      dispatcher.notify(dueSinceUnknown(webhookIds));
      await until('all is sent', async () => (await outboxOf(world)).length === 0);
      expect(performance.now() - startedAt).toBeLessThan((1_000 * owed) / perSecond);
      await dispatcher.drain();
      expect(challenges()).toHaveLength(1);
    }
    expect(challenges()[0]!.headers).toMatchObject({
      'x-own': 'yes',
      'webhook-signature': expect.stringMatching(/^v1,/),
    });
    expect(receiver.received).toHaveLength(2 * owed + 1);
  }
});

test('a receiver is asked again once its agreement has ended', async () => {
  receiver.reply = (request) => ({ headers: { 'webhook-challenge': challengeOf(request) ?? '' } });
  for (const agreedFor of ['30 days', '29 days 23 hours']) {
    await world.sql('truncate destinations');
    await world.sql(
      `insert into destinations (destination, asked_at, agreed_at)
       values ($1, now() - interval '${agreedFor}', now() - interval '${agreedFor}')`,
      [`127.0.0.1:${new URL(receiver.url).port}`],
    );
    receiver.received.splice(0);
    const webhookIds = await owe();
    const dispatcher = start();
    dispatcher.notify(dueSinceUnknown(webhookIds));
    await until('all is sent', async () => (await outboxOf(world)).length === 0);
    await dispatcher.drain();
    expect(challenges()).toHaveLength(agreedFor === '30 days' ? 1 : 0);
  }
});

test('a receiver that has not agreed keeps the pace, also if it mirrors requests; what waits is not ours', async () => {
  const webhookIds = await owe();
  receiver.reply = ({ headers, body }) => ({ body: JSON.stringify({ headers, body }) });
  const dispatcher = start();
  dispatcher.notify(dueSinceUnknown(webhookIds));
  await receiver.waitFor(perSecond, (one) => challengeOf(one) === undefined);
  await until('it was asked', () => challenges().length === 1);
  const backlog = await readBacklog(world.db, {
    fullFrom: 5,
    shipperFullFrom: 100,
    last: { full: {}, readAtMs: 0 },
  });
  expect(backlog.due).toBeGreaterThan(owed / 2);
  expect(backlog.sendable).toBe(0);
  expect(backlog.waiting.receiver).toBe(backlog.due);
  await dispatcher.drain();
  const begunAt = receiver.received.map(({ at }) => at);
  const inAnySecond = begunAt.map(
    (at) => begunAt.filter((other) => other >= at && other < at + 1_000).length,
  );
  expect(Math.max(...inAnySecond)).toBeLessThanOrEqual(perSecond + 2); // two may come late
  expect((await outboxOf(world)).every(({ status }) => status === 'READY')).toBe(true);
});

test.each([
  ['paused', `status = 'PAUSED'`],
  ['deleted', 'deleted_at = now(), stopped_at = now()'],
])('a challenge does not reach a webhook that was %s meanwhile', async (_, change) => {
  const webhookIds = await owe();
  receiver.reply = () => ({});
  attempted.splice(0);
  const times = [-Infinity]; // the first is over: PostgreSQL is asked again right before the first byte
  const dispatcher = start({
    meanwhile: () => world.sql(`update webhooks set ${change}, revision = revision + 1`),
    starts: { untilMs: (issuedAt) => times.shift() ?? soon.untilMs(issuedAt) },
  });
  dispatcher.notify(dueSinceUnknown(webhookIds));
  await until('the challenge is over', () => attempted.length === 1);
  await dispatcher.drain();
  expect(attempted).toMatchObject([{ withheld: true }]);
  expect(challenges()).toEqual([]);
});

test('a receiver is asked through a webhook that still names its host', async () => {
  const webhookIds = await owe();
  receiver.reply = (request) => ({ headers: { 'webhook-challenge': challengeOf(request) ?? '' } });
  const dispatcher = start({ moved: webhookIds.slice(0, 1) });
  dispatcher.notify(dueSinceUnknown(webhookIds));
  await receiver.waitFor(owed);
  await dispatcher.drain();
  expect(challenges()).toHaveLength(1);
});

test('a receiver is asked through another webhook if one is deleted and purged meanwhile', async () => {
  const webhookIds = await owe();
  receiver.reply = (request) => ({ headers: { 'webhook-challenge': challengeOf(request) ?? '' } });
  const dispatcher = start({
    meanwhile: async (webhookId) => {
      if (webhookId !== webhookIds[0]) return;
      await world.sql('delete from webhooks where webhook_id = $1', [webhookId]);
      throw new Error('The webhook is gone'); // as `Targets` does
    },
  });
  dispatcher.notify(dueSinceUnknown(webhookIds));
  await until('it is asked', () => challenges().length === 1);
  await receiver.waitFor(owed / 2, (one) => challengeOf(one) === undefined);
  await dispatcher.drain();
});

test('a receiver agrees for its own host, not for that from which a webhook was moved to it', async () => {
  const webhookIds = await owe();
  receiver.reply = (request) => ({ headers: { 'webhook-challenge': challengeOf(request) ?? '' } });
  const dispatcher = start({ moved: webhookIds });
  dispatcher.notify(dueSinceUnknown(webhookIds));
  const known = () =>
    world.sql<{ agreed: boolean }>('select agreed_at is not null as agreed from destinations');
  await until('it was to be asked', async () => (await known()).length === 1);
  await receiver.waitFor(2 * perSecond);
  await dispatcher.drain();
  expect([challenges(), await known()]).toEqual([[], [{ agreed: false }]]);
});

test('a receiver on the list of the operator is not asked', async () => {
  const webhookIds = await owe();
  receiver.reply = () => ({});
  const dispatcher = start({ agreed: [new URL(receiver.url).host] });
  dispatcher.notify(dueSinceUnknown(webhookIds));
  await receiver.waitFor(owed);
  await dispatcher.drain();
  expect(challenges()).toEqual([]);
});

test('processes that send share each pace, and no longer with one that has ended', async () => {
  const [one, other] = [new Paces(50, []), new Paces(50, [])];
  const [share, shareOther] = [createSharing(world.db, one), createSharing(world.db, other)];
  await share();
  expect(one.ofThisProcess).toBe(50);
  await shareOther();
  await share();
  expect([one.ofThisProcess, other.ofThisProcess]).toEqual([25, 25]);
  await world.sql(`update senders set seen_at = now() - interval '31 seconds'`);
  await share();
  expect(one.ofThisProcess).toBe(50);
});
