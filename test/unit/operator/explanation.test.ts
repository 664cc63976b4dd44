import { expect, test } from '@jest/globals';
import type { DeliveryFacts } from '../../../src/operator/delivery-facts.js';
import { durationsOf } from '../../../src/platform/durations.js';
import { explain } from '../../../src/operator/explanation.js';

const asOf = new Date('2026-11-21T12:00:00Z');
const later = (ms: number) => new Date(asOf.getTime() + ms);
const iso = (ms: number) => later(ms).toISOString().replace('.000Z', '+00:00');

const dueNow: DeliveryFacts = {
  asOf,
  place: 'OUTBOX',
  shipperId: 'shipper',
  deliveryId: 'delivery',
  eventId: 'event',
  webhookId: 'webhook',
  shipmentId: 'shipment',
  trackingId: 'PH1',
  sequence: 2,
  state: 'PICKED_UP',
  status: 'READY',
  reason: null,
  attemptCount: 0,
  failureCount: 0,
  completedAt: null,
  waitsTurn: false,
  dueAt: later(-5_000),
  leaseUntil: null,
  replayId: null,
  isWithdrawn: false,
  behind: null,
  lastAttempt: null,
  behindUntil: null,
  ahead: 0,
  claimed: 0,
  medianMs: null,
  webhookStatus: 'ACTIVE',
  disabledReason: null,
  isPausedByOperator: false,
  isDeleted: false,
  isSuspended: false,
  maxConcurrency: null,
  maxPerSecond: null,
  isSlowed: false,
  isParked: false,
  isBehindParked: false,
  circuitOpenUntil: null,
  probeUntil: null,
  handRequestedAt: null,
  handNumber: null,
  handLeaseUntil: null,
  isHandStopped: false,
};
const of = (facts: Partial<DeliveryFacts>) => explain({ ...dueNow, ...facts }, durationsOf(), 10);

const behind = { deliveryId: 'earlier', eventId: 'event before', sequence: 1, status: 'RETRY' };
const waiting = { waitsTurn: true, dueAt: null, behind };
const sending = { status: 'SENDING', attemptCount: 3, leaseUntil: later(8_000) } as const;
const inLog = { place: 'LOG', dueAt: null, completedAt: later(-60_000), attemptCount: 2 } as const;

test.each<[string, Partial<DeliveryFacts>, { reason: string; until: string | null }, RegExp, RegExp]>([
  ['a paused webhook', { webhookStatus: 'PAUSED' }, { reason: 'PAUSED', until: null }, /is paused/, /ACTIVE/],
  [
    'a disabled webhook, and who disabled it',
    { webhookStatus: 'DISABLED', disabledReason: 'GONE' },
    { reason: 'DISABLED', until: null },
    /disabled \(GONE\)/,
    /ACTIVE/,
  ],
  [
    'a suspended shipper',
    { isSuspended: true },
    { reason: 'SUSPENDED', until: null },
    /suspended/,
    /resumes/,
  ],
  [
    'a deleted webhook',
    { isDeleted: true },
    { reason: 'DELETED', until: null },
    /is deleted/,
    /sweep cancels .* \(every 2 s,/,
  ],
  [
    'a replay that was cancelled',
    { replayId: 'replay', isWithdrawn: true },
    { reason: 'REPLAY_CANCELLED', until: null },
    /replay replay was cancelled/,
    /withdraws the deliveries/,
  ],
  [
    'an open circuit',
    { circuitOpenUntil: later(30_000) },
    { reason: 'CIRCUIT', until: iso(30_000) },
    /is open until 2026-11-21T12:00:30\+00:00/,
    /as a probe/,
  ],
  [
    'a probe under way',
    { circuitOpenUntil: later(-1_000), probeUntil: later(20_000) },
    { reason: 'CIRCUIT', until: iso(20_000) },
    /a probe may be under way until/,
    /If the probe succeeds/,
  ],
  [
    'a probe that is due',
    { circuitOpenUntil: later(-1_000), probeUntil: later(-500) },
    { reason: 'CIRCUIT', until: null },
    /a probe has been due since/,
    /sends one delivery of the webhook as a probe \(every 2 s,/,
  ],
  [
    'its turn',
    waiting,
    { reason: 'TURN', until: null },
    /behind delivery earlier \(event event before, sequence 1, RETRY\)/,
    /when that delivery is finished: explain that one\.$/,
  ],
  [
    'its turn, whose blocker has a bound',
    { ...waiting, behindUntil: later(600_000) },
    { reason: 'TURN', until: iso(600_000) },
    /behind delivery earlier/,
    /ORDER_HOLD/,
  ],
  [
    'a turn that was not released',
    { ...waiting, behind: null },
    { reason: 'TURN', until: null },
    /nothing blocks it any more/,
    /sweep releases it/,
  ],
  [
    'a retry',
    { status: 'RETRY', dueAt: later(40_000), failureCount: 2 },
    { reason: 'RETRY', until: iso(40_000) },
    /next attempt at 2026-11-21T12:00:40\+00:00; 2 scheduled attempts failed/,
    /sweep finds it 1 s later/,
  ],
  [
    'room in its lane',
    { ahead: 12, claimed: 9, medianMs: 3_000 },
    { reason: 'ROOM', until: null },
    /and 12 deliveries .* due for longer. Workers have claimed 9 deliveries of its webhook. Half .* took up to 3 s in/,
    /next pages/,
  ],
  [
    'a receiver that was overloaded',
    { ahead: 12, isSlowed: true },
    { reason: 'RATE', until: null },
    /called more slowly for now: its receiver was overloaded .* 12 deliveries/,
    /once those before it are/,
  ],
  [
    'room in a lane with more before it than are counted',
    { ahead: 1_000 },
    { reason: 'ROOM', until: null },
    /1000 or more/,
    /next pages/,
  ],
  [
    'a lease that has run out',
    { ...sending, leaseUntil: later(-1) },
    { reason: 'LEASE', until: null },
    /Attempt 3 has not ended, and its lease expired/,
    /sweep takes it over \(every 2 s,/,
  ],
  [
    'a lease of an attempt by hand that has run out',
    { ...sending, handRequestedAt: later(-60_000), handNumber: 3, handLeaseUntil: later(0) },
    { reason: 'LEASE', until: null },
    /made by hand/,
    /every 4 s/,
  ],
  [
    'a place among the events, where its webhook is parked',
    { place: 'NOWHERE', status: null, dueAt: null, isParked: true, isBehindParked: true },
    { reason: 'PARKED', until: null },
    /is parked/,
    /makes rows of what it missed/,
  ],
])('an owed delivery waits for %s', (_what, facts, wait, why, next) => {
  const explanation = of(facts);
  expect(explanation.waitsFor).toEqual([wait]);
  expect(explanation.why).toMatch(why);
  expect(explanation.next).toMatch(next);
});

test('several reasons are all listed, the first to end first', () => {
  const { waitsFor, why, next } = of({
    ...waiting,
    webhookStatus: 'PAUSED',
    circuitOpenUntil: later(30_000),
  });
  expect(waitsFor.map(({ reason }) => reason)).toEqual(['PAUSED', 'CIRCUIT', 'TURN']);
  expect(why).toMatch(/is paused\. The circuit .* behind delivery earlier/);
  expect(next).toMatch(/ACTIVE/);
});

test('an attempt under way waits for nothing, whatever its webhook has become, and shows its lease', () => {
  const { waitsFor, claim, why } = of({ ...sending, webhookStatus: 'PAUSED' });
  expect(waitsFor).toEqual([]);
  expect(claim).toEqual({ attempt: 3, isByHand: false, leaseUntil: iso(8_000), hasLapsed: false });
  expect(why).toMatch(/Attempt 3 is under way; its lease is valid until 2026-11-21T12:00:08\+00:00/);
});

test('a row of a parked webhook is sent before events without a row', () => {
  expect(of({ isParked: true, webhookStatus: 'PAUSED' }).why).toMatch(
    /goes out before what the webhook misses/,
  );
});

test.each<[Partial<DeliveryFacts>, RegExp, RegExp]>([
  [
    { status: 'SUCCEEDED' },
    /finished: SUCCEEDED at 2026-11-21T11:59:00\+00:00, after 2 attempts/,
    /^Nothing\.$/,
  ],
  [{ status: 'SUCCEEDED', attemptCount: 1 }, /after 1 attempt\.$/, /^Nothing\.$/],
  [{ status: 'FAILED' }, /finished: FAILED/, /by hand or replays/],
  [{ status: 'CANCELLED', reason: 'EXPIRED' }, /CANCELLED \(EXPIRED\)/, /replays/],
])('a finished delivery waits for nothing: %j', (facts, why, next) => {
  const explanation = of({ ...inLog, ...facts });
  expect(explanation.waitsFor).toEqual([]);
  expect(explanation.why).toMatch(why);
  expect(explanation.next).toMatch(next);
});

test('a delivery that was never owed, or that has left the log, is nowhere and waits for nothing', () => {
  const { waitsFor, why } = of({ place: 'NOWHERE', status: null, dueAt: null, webhookStatus: 'PAUSED' });
  expect(waitsFor).toEqual([]);
  expect(why).toMatch(/^It is neither in the outbox nor in the log/);
});

test.each<[string, Partial<DeliveryFacts>, RegExp]>([
  ['goes on within a sweep', {}, /looks for such requests every 4 s/],
  ['waits for its webhook', { webhookStatus: 'PAUSED', isHandStopped: true }, /is ACTIVE again/],
  ['waits for its shipper', { isSuspended: true }, /when the shipper is resumed/],
  ['is not made of a deleted webhook', { isDeleted: true }, /is not made/],
])('an attempt requested by hand %s', (_what, facts, next) => {
  const explanation = of({ ...inLog, status: 'FAILED', handRequestedAt: later(-1_000), ...facts });
  expect(explanation.why).toMatch(/An attempt by hand was requested at 2026-11-21T11:59:59\+00:00/);
  expect(explanation.next).toMatch(next);
});

test('an attempt by hand may be of a finished delivery, too', () => {
  const asked = { handRequestedAt: later(-1_000), handNumber: 3, handLeaseUntil: later(9_000) };
  const { claim, why } = of({ ...inLog, status: 'FAILED', ...asked });
  expect(claim).toMatchObject({ attempt: 3, isByHand: true, hasLapsed: false });
  expect(why).toMatch(/^Attempt 3 is under way by hand/);
});

test('a delivery that is tried again says so as the portal does, unless it is held', () => {
  const failed = { status: 'RETRY', attemptCount: 2, failureCount: 2 } as const;
  const dueAt = later(40_000);
  expect(of({ ...failed, dueAt }).why).toMatch(/^Retrying 2\/10\. It waits for its next attempt/);
  expect(of(failed).why).toMatch(/^Retrying 2\/10\. It has been due since/);
  expect(of({ ...failed, attemptCount: 10, dueAt }).why).toMatch(/^Retrying\. It waits/);
  for (const other of [{ ...failed, webhookStatus: 'PAUSED' } as const, { attemptCount: 0 }, sending])
    expect(of(other).why).not.toContain('Retrying');
});

test('the last attempt is told with what it waited for, and what became of a lost one', () => {
  const waitedMs = { turn: 12_400, receiver: 0, circuit: 0, paused: 0, rate: 999, us: 3_000 };
  const lastAttempt = {
    number: 2,
    startedAt: later(-9_000).toISOString(),
    statusCode: null,
    errorCode: 'LOST',
  };
  const { why, lastAttempt: shown } = of({ lastAttempt: { ...lastAttempt, waitedMs } });
  expect(why).toContain(
    'Attempt 2 began at 2026-11-21T11:59:51+00:00, after 12 s for its turn and 3 s for us. Attempt 2 was LOST:',
  );
  expect(shown).toMatchObject({ waitedMs });
  expect(of({ lastAttempt: { ...lastAttempt, errorCode: null, waitedMs: null } }).why).not.toContain(
    'Attempt',
  );
});
