import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { passwordOfServer, startMailServer, type MailServer } from '../../support/mail/server.js';
import {
  addShipments,
  addWebhook,
  createWorld,
  forNewShipper,
  logger,
  type World,
} from '../../support/core/world.js';
import { record } from '../../support/core/acts.js';
import { createMailing } from '../../../src/mail/send.js';
import type { MailKind, OwedMail } from '../../../src/mail/store.js';
import { newId } from '../../../src/platform/ids.js';
import { createMetrics } from '../../../src/platform/telemetry/metrics.js';
import { sha256 } from '../../../src/accounts/credentials.js';
import type { Notice } from '../../../src/engine/engine.js';
import {
  askToConfirm,
  composeConfirmation,
  confirmAddress,
  findAskedAddress,
} from '../../../src/webhooks/mails/addresses.js';
import { composeNotice, composeSummary } from '../../../src/webhooks/mails/content.js';
import { mailNotices, oweNoticeMails } from '../../../src/webhooks/mails/owed.js';

const publicUrl = 'https://parcelhook.example';
const times = { gatherMs: 60_000, pauseMs: 3_600_000 };
const since = new Date('2026-03-02T08:15:00Z');
let first: World;
let world: World;
let mails: MailServer;
/** Unique to each test. */
let owner: string;

beforeAll(async () => {
  first = await createWorld();
  mails = await startMailServer();
});
afterAll(async () => {
  await mails?.close();
  await first?.stop();
});
beforeEach(async () => {
  world = await forNewShipper(first);
  owner = `owner-${newId()}@example.com`;
  await world.sql('insert into users (user_id, shipper_id, email) values ($1, $2, $3)', [
    newId(),
    world.shipperId,
    owner,
  ]);
});

async function hookOf(email: string): Promise<string> {
  const webhookId = await addWebhook(world);
  await world.sql(
    `update webhooks set notify_email = $2, target_address = 'https://shop.example/hook?key=secret' where webhook_id = $1`,
    [webhookId, email],
  );
  return webhookId;
}
const noticeOf = (webhookId: string, changes: Partial<Notice> = {}): Notice => ({
  webhookId,
  state: 'WEBHOOK_FAILING',
  reason: 'CIRCUIT_OPEN',
  since,
  disablesAt: new Date(since.getTime() + 5 * 86_400_000),
  lastFailure: '502',
  exhausted: null,
  ...changes,
});
const tell = (notices: Notice[]) => world.db.transaction((tx) => oweNoticeMails(tx, notices));

/** Makes mails of the notices, and sends all that are due. Returns those that this shipper's owner got meanwhile. */
async function send(to = owner) {
  const before = mails.received.length;
  await mailNotices(world.db, times);
  const links = { publicUrl, cell: undefined };
  const composing: Partial<Record<MailKind, ReturnType<typeof composeNotice>>> = {
    CONFIRM_ADDRESS: composeConfirmation(links),
    NOTICE: composeNotice(publicUrl),
    SUMMARY: composeSummary(publicUrl),
  };
  const mailing = createMailing({
    db: world.db,
    logger,
    metrics: createMetrics(),
    server: {
      host: '127.0.0.1',
      port: mails.port,
      isSecure: false,
      login: { user: 'parcelhook', password: passwordOfServer },
    },
    from: { name: 'Parcelhook', address: 'parcelhook@mail.example' },
    firstRetryMs: 1,
    compose: (db, mail: OwedMail) => composing[mail.kind]!(db, mail),
  });
  while ((await mailing.run()) !== undefined);
  return mails.received.slice(before).filter((mail) => mail.to.includes(to));
}

test('a mail says what happened, since when, to which shipments, the last status and what to do, and no secret', async () => {
  const webhookId = await hookOf(owner);
  const shipmentIds = await addShipments(world, 2);
  for (const shipmentId of shipmentIds) await record(world.db, shipmentId, ['CREATED']);
  await tell([noticeOf(webhookId)]);
  const [mail, ...others] = await send();
  expect([mail!.subject, others]).toEqual(['Webhook failing: shop.example', []]);
  const rows = await world.sql<{ tracking_id: string }>(
    'select tracking_id from shipments where shipment_id = any($1::uuid[])',
    [shipmentIds],
  );
  for (const body of [mail!.text, mail!.html]) {
    expect(body).toContain('https://shop.example/hook');
    expect(body).toContain('2026-03-02 08:15 UTC');
    expect(body).toContain('disabled on 2026-03-07 08:15 UTC');
    expect(body).toContain('had the status 502');
    for (const { tracking_id: trackingId } of rows) expect(body).toContain(trackingId);
    expect(body).toContain(`${publicUrl}/webhooks/${webhookId}`);
    expect(body).not.toMatch(/key=|secret/);
  }
  expect(await send()).toEqual([]);
});

test('each notice has a mail of its own words', async () => {
  const webhookId = await hookOf(owner);
  const exhausted = { count: 3, trackingIds: ['PH1', 'PH2'] };
  await tell([
    noticeOf(webhookId, { state: 'WEBHOOK_RECOVERED', reason: null, disablesAt: null }),
    noticeOf(webhookId, { state: 'WEBHOOK_DISABLING', reason: 'FAILING', lastFailure: 'TIMEOUT' }),
    noticeOf(webhookId, { state: 'WEBHOOK_DISABLED', reason: 'GONE', since: null, lastFailure: null }),
    noticeOf(webhookId, { state: 'DELIVERY_EXHAUSTED', reason: null, since: null, exhausted }),
  ]);
  const texts = new Map(
    (await send()).map(({ subject, text }) => [subject.split(':')[0], text.replace(/\s+/g, ' ')]),
  );
  expect(texts.get('Webhook recovered')).toContain('It had been failing since 2026-03-02 08:15 UTC.');
  expect(texts.get('Webhook recovered')).toContain(
    'Those that failed before wait for their next attempt; Recover sends them now.',
  );
  expect(texts.get('Webhook recovered')).toContain(`${publicUrl}/recover?webhookId=${webhookId}`);
  expect(texts.get('Webhook about to be disabled')).toContain(
    'When an attempt last failed, the server did not respond in time.',
  );
  expect(texts.get('Webhook disabled')).toContain('410 (Gone)');
  expect(texts.get('Notifications given up')).toContain('PH1, PH2, and perhaps more');
  expect(texts.get('Notifications given up')).toContain(`${publicUrl}/recover?webhookId=${webhookId}`);
  expect(texts.size).toBe(4);
});

test('an address that is no user’s gets nothing but a link, until it has confirmed by it', async () => {
  const stranger = `stranger-${newId()}@example.com`;
  const webhookId = await hookOf(stranger);
  const ask = () => world.db.transaction((tx) => askToConfirm(tx, world.shipperId, stranger));
  await ask();
  await ask(); // within the hour
  await tell([noticeOf(webhookId)]);
  const [mail, ...others] = await send(stranger);
  expect([mail!.subject, others]).toEqual(['Confirm this address for Parcelhook', []]);
  expect(mail!.text).not.toContain('shop.example');
  const tokenHash = sha256(/confirm-address\?token=(\S+)/.exec(mail!.text)![1]!);
  expect(await findAskedAddress(world.db, tokenHash)).toMatchObject({ email: stranger });
  expect(await confirmAddress(world.db, tokenHash)).toBe(true);
  expect(await confirmAddress(world.db, tokenHash)).toBe(false);
  await tell([noticeOf(webhookId)]);
  expect((await send(stranger)).map(({ subject }) => subject)).toEqual(['Webhook failing: shop.example']);
  await ask();
  expect(await send(stranger)).toEqual([]);
});

test('a shipper asks 20 new addresses a day', async () => {
  const ask = (n: number) =>
    world.db.transaction((tx) => askToConfirm(tx, world.shipperId, `${n}-${newId()}@example.com`));
  for (let n = 0; n < 20; n += 1) await ask(n);
  await expect(ask(20)).rejects.toMatchObject({ status: 'TOO_MANY_REQUESTS' });
  await world.sql('delete from mails where shipper_id = $1', [world.shipperId]);
});

test('10,000 webhooks of a shipper that fail are 20 mails and one summary, and what follows is one an hour later', async () => {
  const webhookId = await hookOf(owner);
  const many = Array.from({ length: 10_000 }, () => noticeOf(webhookId));
  await tell(many);
  expect(await send()).toHaveLength(20);
  expect(await send()).toEqual([]); // what is over is collected for a minute
  const later = (minutes: number) =>
    world.sql(
      `with budget as (update mail_budgets set summed_at = summed_at - make_interval(mins => $2) where shipper_id = $1)
       update notices_to_mail set recorded_at = recorded_at - make_interval(mins => $2) where shipper_id = $1`,
      [world.shipperId, minutes],
    );
  await later(1);
  expect((await send()).map(({ subject }) => subject)).toEqual(['9980 events of your webhooks']);
  await tell(many.slice(0, 30));
  await later(59);
  expect(await send()).toEqual([]);
  await later(1);
  const [summary, ...others] = await send();
  expect([summary!.subject, others]).toEqual(['30 events of your webhooks', []]);
  expect(summary!.text).toContain('https://shop.example/hook is failing');
  expect(summary!.text).toContain('And 10 more.');
});

test('a shipper whose notices cannot be made to mails keeps no other from its own', async () => {
  const failing = '00000000-0000-4000-8000-000000000001'; // the first in order
  await world.sql(
    `insert into shippers (shipper_id, name, account_key_hash) values ('${failing}', 'S', '\\x00');
     alter table mail_budgets add constraint fails check (shipper_id <> '${failing}');
     insert into notices_to_mail (notice_id, shipper_id, webhook_id, facts)
     values (gen_random_uuid(), '${failing}', gen_random_uuid(), '{}')`,
  );
  await tell([noticeOf(await hookOf(owner))]);
  const before = mails.received.length;
  await expect(send()).rejects.toThrow('fails');
  await world.sql(`delete from shippers where shipper_id = '${failing}'`);
  await world.sql('alter table mail_budgets drop constraint fails');
  expect(mails.received.length).toBe(before);
  expect(await world.sql(`select from mails where kind = 'NOTICE' and attempts = 0`)).toHaveLength(1);
  await send();
});

test('nobody is told once the webhook is deleted, has no address any more, or the user is removed', async () => {
  const [deleted, unset, kept] = [await hookOf(owner), await hookOf(owner), await hookOf(owner)];
  await tell([deleted, unset, kept].map((webhookId) => noticeOf(webhookId)));
  await world.sql('update webhooks set deleted_at = now() where webhook_id = $1', [deleted]);
  await world.sql('update webhooks set notify_email = null where webhook_id = $1', [unset]);
  await mailNotices(world.db, times);
  await world.sql('delete from users where shipper_id = $1', [world.shipperId]);
  expect(await send()).toEqual([]);
  expect(await world.sql('select from mails where shipper_id = $1', [world.shipperId])).toEqual([]);
});
