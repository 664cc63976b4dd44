import { beforeAll, describe, expect, test } from '@jest/globals';
import { createSealer, createSecretBox } from '../../src/engine/send/sealing.js';
import { withoutSlot, type Caller } from '../../src/http/route.js';
import { createRateLimits } from '../../src/platform/limits/rate-limit.js';
import { StoredBytes } from '../../src/platform/limits/stored-bytes.js';
import { createMetrics } from '../../src/platform/telemetry/metrics.js';
import type { Database } from '../../src/platform/database/postgres.js';
import { createWebhookLimits } from '../../src/webhooks/limits.js';
import { createWebhook, declareWebhook, type WebhookDependencies } from '../../src/webhooks/registration.js';
import { listWebhooks, markDeleted } from '../../src/webhooks/store.js';
import { doneOrWaiting, stopAt } from '../support/core/barriers.js';
import { setUpRaces, world } from '../support/core/race.js';
import { logger } from '../support/core/world.js';

setUpRaces();

let caller: Caller;
let on: (db: Database) => WebhookDependencies;
const neverCalled = () => Promise.reject(new Error('no declaration here calls it'));

beforeAll(() => {
  caller = {
    shipperId: world.shipperId,
    userId: world.shipperId,
    operator: null,
    program: null,
    address: null,
  };
  const limits = createWebhookLimits({
    limits: createRateLimits(undefined, 'test'),
    stored: new StoredBytes({ db: world.db, logger, metrics: createMetrics(), limit: 0 }),
    byHandPerWebhook: 0,
    creationsPerShipper: 0,
    onLimited: () => undefined,
  });
  on = (db) => ({
    db,
    sealer: createSealer(createSecretBox('a key of this test')),
    policy: {
      allowPrivateTargets: false,
      allowHttpTargets: false,
      allowedPorts: [443],
      isDenied: () => false,
      publicUrl: null,
    },
    mails: false,
    webhooksPerShipper: 100,
    limits,
    knownInterests: new Set(),
    onStopped: neverCalled,
    onDeleted: neverCalled,
    onResuming: neverCalled,
    onMoving: neverCalled,
    onReleased: () => undefined,
    onReordered: neverCalled,
    health: neverCalled,
    stats: neverCalled,
  });
});

const settings = { interests: ['CREATED'], targetAddress: 'https://example.org/hook' };
const declare = (db: Database, fields: object = {}) =>
  declareWebhook(
    on(db),
    caller,
    { name: 'orders', ...settings, ...fields },
    { outside: withoutSlot, withMisspelt: (details) => details },
  );
const named = async () =>
  (await listWebhooks(world.db, world.shipperId, { only: null }, undefined, 9)).filter(
    ({ name }) => name === 'orders',
  );

describe('of two declarations of one new name at once', () => {
  test.each([
    ['the same', {}],
    ['other', { description: 'second' }],
  ])('one creates the webhook, and the other gives it %s settings', async (_, fields) => {
    const stop = stopAt(world, 'insert-webhook', 'COMMIT');
    const first = declare(stop.db);
    await stop.reached;
    const second = declare(world.db, fields);
    expect(await doneOrWaiting(world.db, second)).toBe('waiting');
    stop.go();
    const { webhook, isNew, secret } = await first;
    expect({ isNew, secret }).toEqual({ isNew: true, secret: expect.stringMatching(/^whsec_/) });
    const { webhook: after, ...rest } = await second;
    expect(rest).toEqual({ isNew: false });
    expect({ ...after, updatedAt: null }).toEqual({ ...webhook, ...fields, updatedAt: null });
    expect(after.updatedAt.getTime() > webhook.updatedAt.getTime()).toBe('description' in fields);
    expect(await named()).toEqual([after]);
  });

  test('that look at the same moment, both find none, and still one creates it', async () => {
    const stops = [1, 2].map(() => stopAt(world, 'find-webhook-by-name', 'COMMIT'));
    const both = stops.map(({ db }) => declare(db));
    for (const { reached } of stops) await reached;
    for (const { go } of stops) go();
    const made = await Promise.all(both);
    expect(made.map(({ isNew }) => isNew).sort()).toEqual([false, true]);
    expect(new Set(made.map(({ webhook }) => webhook.webhookId)).size).toBe(1);
    expect(await named()).toHaveLength(1);
  });
});

test('a webhook that is deleted while it is declared is created anew', async () => {
  const before = await declare(world.db);
  const stop = stopAt(world, 'find-webhook-by-name', 'COMMIT');
  const declaring = declare(stop.db, { description: 'changed' });
  await stop.reached;
  await markDeleted(world.db, world.shipperId, before.webhook.webhookId);
  stop.go();
  const { webhook, isNew } = await declaring;
  expect({ isNew, description: webhook.description }).toEqual({ isNew: true, description: 'changed' });
  expect(await named()).toEqual([webhook]);
});

test('a webhook that is created under the name of one being created is refused', async () => {
  const stop = stopAt(world, 'insert-webhook', 'COMMIT');
  const first = declare(stop.db);
  await stop.reached;
  const second = createWebhook(on(world.db), caller, { ...settings, name: 'orders' });
  expect(await doneOrWaiting(world.db, second)).toBe('waiting');
  stop.go();
  await first;
  expect(await second).toBeNull();
});
