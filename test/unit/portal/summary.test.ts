import { describe, expect, test } from '@jest/globals';
import {
  advice,
  interestsInWords,
  nameOf,
  percent,
  shortNameOf,
  statusOf,
  totalOf,
  trouble,
} from '../../../src/portal/places/webhooks/summary.js';

const now = Date.parse('2026-11-25T12:00:00Z');
const webhook = {
  webhookId: '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
  interests: ['*'],
  targetAddress: 'https://example.com/hooks/',
  status: 'ACTIVE' as const,
  disabledReason: null,
  ordering: 'SHIPMENT' as const,
  supersede: false,
  headers: {},
  description: '',
  createdAt: '2026-11-25T11:00:00+00:00',
  updatedAt: '2026-11-25T11:00:00+00:00',
  unknownInterests: [],
};
const health = {
  circuit: 'OPEN' as const,
  nextProbeAt: '2026-11-25T12:00:30+00:00',
  lastSuccessAt: null,
  failureRate: 1,
  pendingCount: 3,
  parkedSince: null,
};
const hour = (attempts: number, succeeded: number) => ({
  hour: '2026-11-25T11:00:00+00:00',
  attempts,
  succeeded,
  failed: attempts - succeeded,
  p50Ms: null,
  p95Ms: null,
});

describe('the health of a webhook at a glance', () => {
  test('an active webhook with an open circuit shows the circuit and its next probe', () => {
    expect(statusOf(webhook, health, [], now)).toBe('OPEN');
    expect(trouble(webhook, health, now)).toBe('Next probe in 30 s');
    expect(advice({ ...webhook, health }, now)).toBe(
      'Next probe in 30 s. If your server works again, send a test: a success sends what waits.',
    );
  });

  test('a paused webhook shows that it is paused, whatever its circuit', () => {
    const paused = { ...webhook, status: 'PAUSED' as const };
    expect(statusOf(paused, health, [], now)).toBe('PAUSED');
    expect(trouble(paused, health, now)).toBe('');
    expect(advice({ ...paused, health }, now)).toBe('');
  });

  test('a disabled webhook says why, what to do, and what waits', () => {
    const gone = { ...webhook, status: 'DISABLED' as const, disabledReason: 'GONE' as const };
    expect(trouble(gone, { ...health, circuit: 'CLOSED' }, now)).toBe('It responded 410 Gone');
    expect(advice({ ...gone, health: { ...health, pendingCount: 1 } }, now)).toBe(
      'It responded 410 Gone, so nothing is sent. Correct the address or the server, then resume. 1 delivery waits.',
    );
    expect(advice({ ...gone, disabledReason: null, health: { ...health, pendingCount: 0 } }, now)).toBe(
      'Nothing is sent. Correct the address or the server, then resume.',
    );
    const refused = { ...gone, disabledReason: 'REFUSED' as const };
    expect(trouble(refused, { ...health, circuit: 'CLOSED' }, now)).toBe('It asked to be disabled');
  });

  test('an active webhook is failing if it has had no success for an hour, and all its attempts failed', () => {
    const closed = { ...health, circuit: 'CLOSED' as const, failureRate: null };
    const at = (minutesAgo: number) => new Date(now - minutesAgo * 60_000).toISOString();
    expect(statusOf(webhook, closed, [], now)).toBe('ACTIVE');
    expect(statusOf(webhook, { ...closed, failureRate: 1 }, [], now)).toBe('FAILING');
    expect(statusOf(webhook, { ...closed, lastSuccessAt: at(3_000) }, [hour(4, 0)], now)).toBe('FAILING');
    expect(statusOf(webhook, { ...closed, failureRate: 0.9 }, [hour(10, 1)], now)).toBe('ACTIVE');
    expect(statusOf(webhook, { ...closed, failureRate: 1, lastSuccessAt: at(5) }, [], now)).toBe('ACTIVE');
    expect(statusOf({ ...webhook, status: 'PAUSED' }, { ...closed, failureRate: 1 }, [], now)).toBe('PAUSED');
  });

  test('100 % means that nothing failed', () => {
    expect(percent(totalOf([hour(1_000_000, 999_999)]).share!)).toBe('99.9 %');
    expect(percent(totalOf([hour(3, 3), hour(0, 0)]).share!)).toBe('100 %');
    expect(percent(0)).toBe('0 %');
    expect(totalOf([hour(0, 0)]).share).toBeNull();
  });
});

describe('the name of a webhook', () => {
  test('is its description, or its address without the scheme', () => {
    expect(nameOf(webhook)).toBe('example.com/hooks');
    expect(nameOf({ ...webhook, description: 'Production' })).toBe('Production');
  });

  test('is cut in the middle where there is little room', () => {
    const targetAddress = `https://hooks.example.com/parcelhook/${'a'.repeat(60)}/tenant-7`;
    expect(shortNameOf(webhook)).toBe('example.com/hooks');
    expect(shortNameOf({ ...webhook, targetAddress })).toMatch(/^hooks\.example\.com.…a+\/tenant-7$/);
    expect(shortNameOf({ ...webhook, targetAddress })).toHaveLength(40);
    expect(shortNameOf({ ...webhook, description: 'P'.repeat(50) })).toBe('P'.repeat(50));
  });
});

test('interests are told in a few words', () => {
  const notices = ['WEBHOOK_FAILING'];
  expect(interestsInWords(['*'], notices)).toBe('All states');
  expect(interestsInWords(['OUT_FOR_DELIVERY'], notices)).toBe('Out for delivery');
  expect(interestsInWords(['CREATED', 'DELIVERED', 'WEBHOOK_FAILING'], notices)).toBe('2 states, notices');
  expect(interestsInWords(['WEBHOOK_FAILING'], notices)).toBe('notices');
});
