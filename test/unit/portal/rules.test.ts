import { describe, expect, test } from '@jest/globals';
import type { Delivery, ListedWebhook, Tracking } from '../../../src/client/api/types.js';
import {
  type Page,
  rereadingOf,
  rowsOf,
  windowOf,
  withNewest,
  withOlder,
  withRows,
} from '../../../src/portal/list/window.js';
import { matchPath } from '../../../src/portal/match-path.js';
import { behindText, stepsOf, untoldOf } from '../../../src/portal/places/shipments/steps.js';
import { advice } from '../../../src/portal/places/webhooks/summary.js';
import {
  interestsInWords,
  isShownAs,
  nameOf,
  percent,
  shortNameOf,
  statusOf,
  totalOf,
  trouble,
} from '../../../src/portal/places/webhooks/summary.js';

type Health = NonNullable<ListedWebhook['health']>;

const id = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';

test.each([
  ['/deliveries/:id?', '/deliveries', {}],
  ['/deliveries/:id?', '/deliveries/', {}],
  ['/deliveries/:id?', `/deliveries/${id}`, { id }],
  ['/shipments/:id?', '/shipments/PH1M7YZMHG0R8EB1NC38', { id: 'PH1M7YZMHG0R8EB1NC38' }],
  ['/webhooks/:id', '/webhooks', null],
  ['/webhooks/:id', `/webhooks/${id}/x`, null],
  ['/webhooks', '/deliveries', null],
])('%s at %s is %j', (pattern, path, values) => {
  expect(matchPath(pattern, path)).toEqual(values);
});

test.each(['..', '..%2Ftokens', '%2e%2e%2fwebhooks%2fx%3f', 'a?b', 'a%00b', '%'])(
  'an address with %s for an id, which would call another endpoint, is none of the portal',
  (hostile) => {
    expect(matchPath('/deliveries/:id?', `/deliveries/${hostile}`)).toBeNull();
  },
);

const entry = (state: string, timestamp: number) =>
  ({ state, timestamp, lat: null, lng: null, anomalies: null, evidences: [] }) as Tracking['history'][number];
const event = (sequence: number) => ({
  eventId: `event-${sequence}`,
  sequence,
  recordedAt: '2026-11-20T12:00:00+00:00',
});
const delivery = (deliveryId: string, eventId: string) => ({ deliveryId, eventId }) as Delivery;

test('each state of a shipment has the deliveries of its own event, also where a state comes twice', () => {
  const history = [entry('CREATED', 1), entry('IN_TRANSIT', 2), entry('IN_TRANSIT', 3)];
  const deliveries = [delivery('c', 'event-3'), delivery('b', 'event-1'), delivery('a', 'event-1')];
  const steps = stepsOf(history, [event(1), event(2), event(3)], deliveries);
  expect(steps.map(({ deliveries }) => deliveries.map(({ deliveryId }) => deliveryId))).toEqual([
    ['a', 'b'],
    [],
    ['c'],
  ]);
});

test('a state that is older than the log has no event', () => {
  const steps = stepsOf([entry('CREATED', 1), entry('PICKED_UP', 2)], [event(2)], []);
  expect(steps.map(({ recordedAt }) => recordedAt !== null)).toEqual([false, true]);
});

test('a webhook that was not told of a state says why', () => {
  const recordedAt = '2026-11-20T12:00:00+00:00';
  const hook = (webhookId: string, interests: string[], createdAt = '2026-11-01T00:00:00+00:00') => ({
    ...{ webhookId, interests, createdAt },
  });
  const told = { ...delivery('d', 'event-1'), webhookId: 'told' };
  const webhooks = [
    hook('told', ['*']),
    hook('lost', ['LOST', 'RETURNED']),
    hook('many', ['LOST', 'RETURNED', 'DELIVERED', 'PICKED_UP']),
    hook('late', ['*'], '2026-11-21T00:00:00+00:00'),
    hook('other', ['CREATED']),
    { ...hook('parked', ['*']), health: { parkedSince: '2026-11-19T00:00:00+00:00' } as Health },
  ];
  const untold = untoldOf({ state: 'CREATED', recordedAt, deliveries: [told] }, webhooks);
  expect(untold.map(({ webhook, why, isOwed }) => [webhook.webhookId, why, isOwed])).toEqual([
    ['lost', 'wants only Lost, Returned', false],
    ['many', 'wants 4 other states', false],
    ['late', 'made later', false],
    ['other', 'its settings were different then', false],
    ['parked', 'too much waits for it; sent when it is called again', true],
  ]);
});

test('a shipment says how many of the webhooks that want its state are behind', () => {
  const of = (webhookId: string, status: string, reason: string | null = null) =>
    ({ webhookId, status, reason }) as Delivery;
  const [a, b, c] = [of('a', 'SUCCEEDED'), of('b', 'PENDING'), of('c', 'HELD')];
  const [erased, deleted] = [of('e', 'CANCELLED', 'ERASED'), of('x', 'CANCELLED', 'WEBHOOK_DELETED')];
  const parked = { webhook: { webhookId: 'p' }, why: '', isOwed: true };
  expect(behindText({ deliveries: [a, b] }, [a, b, c])).toBe('1 of 2 webhooks is behind');
  expect(behindText({ deliveries: [a] }, [a, b])).toBe('Its webhook has it');
  expect(behindText({ deliveries: [a, of('d', 'SUCCEEDED')] }, [a])).toBe('All 2 webhooks have it');
  expect(behindText({ deliveries: [a, deleted] }, [a, deleted])).toBe('Its webhook has it');
  expect(behindText({ deliveries: [a, erased] }, [a, erased])).toBe('1 of 2 webhooks has it');
  expect(behindText({ deliveries: [a] }, [a], [parked])).toBe('1 of 2 webhooks is behind');
  expect(behindText({ deliveries: [a] }, [a], [{ ...parked, isOwed: false }])).toBe('Its webhook has it');
  expect(behindText(undefined, [])).toBe('');
});

describe('a live list', () => {
  interface Row {
    id: string;
    status?: string;
  }
  const idOf = ({ id }: Row) => id;
  const rows = (from: number, to: number): Row[] =>
    Array.from({ length: from - to + 1 }, (_, index) => ({ id: String(from - index).padStart(4, '0') }));
  const page = (from: number, to: number, cursor: string | null = null): Page<Row> => ({
    cursor,
    rows: rows(from, to),
    nextCursor: String(to),
  });
  const ids = (shown: Parameters<typeof rowsOf<Row>>[0]) => rowsOf(shown).map(idOf);

  describe('a live list', () => {
    const shown = windowOf('', page(100, 51), idOf);

    test('keeps its rows where they are while new ones wait', () => {
      const next = withNewest(shown, page(103, 54), idOf);
      expect(ids(next)).toEqual(ids(shown));
      expect([next.newCount, next.isNewCapped]).toEqual([3, false]);
    });

    test('says that there may be more than a page of new rows', () => {
      const next = withNewest(shown, page(180, 131), idOf);
      expect([next.newCount, next.isNewCapped]).toEqual([50, true]);
    });

    test('counts nothing as new after the newest are shown', () => {
      expect(withNewest(shown, page(100, 51), idOf).newCount).toBe(0);
    });

    test('counts a row that came in between, but not one that is older than it goes', () => {
      const between = { ...page(100, 51), rows: [...rows(100, 70), { id: '0069x' }, ...rows(69, 53)] };
      expect(withNewest(shown, between, idOf).newCount).toBe(1);
      // Rows left the newest page, and older ones moved up.
      expect(withNewest(shown, page(95, 46), idOf).newCount).toBe(0);
    });

    test('shows at once what comes into an empty list', () => {
      const empty = windowOf<Row>('', { cursor: null, rows: [], nextCursor: null }, idOf);
      const next = withNewest(empty, page(3, 1), idOf);
      expect([ids(next).length, next.newCount]).toEqual([3, 0]);
    });

    test('goes on from where it is, however often the newest page is read, until that has a row', () => {
      const none = (cursor: string | null, nextCursor: string) => ({ cursor, rows: [], nextCursor });
      const first = windowOf<Row>('', none(null, '900'), idOf);
      expect(withNewest(first, none(null, '905'), idOf).pages.at(-1)!.nextCursor).toBe('905');
      const further = withNewest(withOlder(first, none('900', '800'), idOf), none(null, '905'), idOf);
      expect(further.pages.at(-1)!.nextCursor).toBe('800');
      const found = withOlder(further, page(750, 701, '800'), idOf);
      expect(ids(found)).toHaveLength(50);
      expect(withNewest(found, page(950, 901), idOf)).toMatchObject({ newCount: 50, isTrimmed: false });
      expect(ids(withNewest(further, page(950, 950), idOf))).toEqual(['0950']);
    });

    test('refreshes rows in their place', () => {
      const next = withRows(shown, [{ id: '0070', status: 'SUCCEEDED' }, { id: '9999' }], idOf);
      expect(ids(next)).toEqual(ids(shown));
      expect(rowsOf(next).filter(({ status }) => status)).toEqual([{ id: '0070', status: 'SUCCEEDED' }]);
    });

    test('leaves a page alone that has none of the rows', () => {
      const two = withOlder(shown, page(50, 1, '51'), idOf);
      const [first, second] = withRows(two, [{ id: '0030', status: 'FAILED' }], idOf).pages;
      expect([first === two.pages[0], second === two.pages[1]]).toEqual([true, false]);
    });

    test('takes no page but the next one: an earlier one may arrive after the list has begun anew', () => {
      expect(withOlder(shown, page(40, 1, '41'), idOf)).toBe(shown);
    });

    test('has at most 300 rows, however far back one goes, and counts only what is newer than it ever had', () => {
      let far = windowOf('', page(1_000, 951), idOf);
      for (let to = 901; to >= 501; to -= 50) far = withOlder(far, page(to + 49, to, String(to + 50)), idOf);
      expect(ids(far)).toHaveLength(300);
      expect([ids(far)[0], ids(far).at(-1)]).toEqual(['0800', '0501']);
      expect(far.isTrimmed).toBe(true);
      expect(withNewest(far, page(1_000, 951), idOf).newCount).toBe(0);
      expect(withNewest(far, page(1_002, 953), idOf).newCount).toBe(2);
    });

    test('reads again the pages with changing rows on the screen, and rows of the moving first page by themselves', () => {
      const two = withOlder(shown, page(50, 1, '51'), idOf);
      const { pages, ids } = rereadingOf(two, ['0098', '0040', '0039'], idOf);
      expect(pages.map(({ cursor }) => cursor)).toEqual(['51']);
      expect(ids).toEqual(['0098']);
      const many = rereadingOf(shown, rows(100, 60).map(idOf), idOf);
      expect(many.pages).toEqual([]);
      expect(many.ids).toHaveLength(5);
    });
  });
});

describe('a summary', () => {
  const now = Date.parse('2026-11-25T12:00:00Z');
  const webhook = {
    webhookId: '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
    interests: ['*'],
    targetAddress: 'https://example.com/hooks/',
    status: 'ACTIVE' as const,
    disabledReason: null,
    name: null,
    pausedBy: null,
    ordering: 'SHIPMENT' as const,
    supersede: false,
    maxPerSecond: null,
    notifyEmail: null,
    notifyEmailConfirmed: null,
    headers: {},
    description: '',
    createdAt: '2026-11-25T11:00:00+00:00',
    updatedAt: '2026-11-25T11:00:00+00:00',
    unknownInterests: [],
  };
  const health = {
    circuit: 'OPEN' as const,
    nextProbeAt: '2026-11-25T12:00:30+00:00',
    failedSince: null,
    disablesAt: null,
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
      expect(statusOf(webhook, health)).toBe('OPEN');
      expect(trouble(webhook, health, now)).toBe('Next probe in 30 s or later');
      expect(trouble(webhook, health, now + 60_000)).toBe('Next probe with the next retry');
      expect(advice({ ...webhook, health }, now)).toBe(
        'Next probe in 30 s or later. If your server works again, send a test: a success sends what is held.',
      );
    });

    test('a paused webhook shows that it is paused, whatever its circuit', () => {
      const paused = { ...webhook, status: 'PAUSED' as const };
      expect(statusOf(paused, health)).toBe('PAUSED');
      expect(trouble(paused, health, now)).toBe('');
      expect(advice({ ...paused, health }, now)).toBe(
        'Nothing is sent. What it misses is held until you resume it.',
      );
    });

    test('a webhook that is well says nothing', () => {
      const closed = { ...health, circuit: 'CLOSED' as const };
      expect(advice({ ...webhook, health: closed }, now)).toBe('');
    });

    test('a webhook that the operator has paused says so, and who can resume it', () => {
      const paused = { ...webhook, status: 'PAUSED' as const, pausedBy: 'OPERATOR' as const };
      expect(trouble(paused, health, now)).toBe('Paused by the operator');
      expect(advice({ ...paused, health }, now)).toBe(
        'Paused by the operator, who alone can resume it. What it misses is held, and sent then.',
      );
    });

    test('a disabled webhook says why, and what to do', () => {
      const gone = { ...webhook, status: 'DISABLED' as const, disabledReason: 'GONE' as const };
      expect(trouble(gone, { ...health, circuit: 'CLOSED' }, now)).toBe('It responded 410 Gone');
      expect(advice({ ...gone, health }, now)).toBe(
        'It responded 410 Gone, so nothing is sent. Correct the address or the server, then resume.',
      );
      expect(advice({ ...gone, disabledReason: null, health }, now)).toBe(
        'Nothing is sent. Correct the address or the server, then resume.',
      );
      const refused = { ...gone, disabledReason: 'REFUSED' as const };
      expect(trouble(refused, { ...health, circuit: 'CLOSED' }, now)).toBe('It asked to be disabled');
    });

    test('an active webhook is failing if its last attempt failed, and so is one whose circuit is open', () => {
      const closed = { ...health, circuit: 'CLOSED' as const };
      const failing = { ...closed, failedSince: '2026-11-25T11:00:00+00:00' };
      expect(statusOf(webhook, closed)).toBe('ACTIVE');
      expect(statusOf(webhook, failing)).toBe('FAILING');
      expect(statusOf({ ...webhook, status: 'PAUSED' }, failing)).toBe('PAUSED');
      const all = ['ACTIVE', 'PAUSED', 'DISABLED', 'OPEN', 'FAILING'];
      const shownAs = (shown: string) => all.filter((status) => isShownAs(status, shown));
      expect(shownAs('FAILING')).toEqual(['OPEN', 'FAILING']);
      expect(shownAs('PROBLEM')).toEqual(['DISABLED', 'OPEN', 'FAILING']);
    });

    test('100 % means that nothing failed', () => {
      expect(percent(totalOf([hour(1_000_000, 999_999)]).share!)).toBe('99.9 %');
      expect(percent(totalOf([hour(3, 3), hour(0, 0)]).share!)).toBe('100 %');
      expect(percent(0)).toBe('0 %');
      expect(totalOf([hour(0, 0)]).share).toBeNull();
    });
  });

  describe('the name of a webhook', () => {
    test('is its own, or its description, or its address without the scheme', () => {
      expect(nameOf(webhook)).toBe('example.com/hooks');
      expect(nameOf({ ...webhook, description: 'Production' })).toBe('Production');
      expect(nameOf({ ...webhook, name: 'orders', description: 'Production' })).toBe('orders');
    });

    test('is cut in the middle where there is little room', () => {
      const targetAddress = `https://hooks.example.com/parcelhook/${'a'.repeat(60)}/tenant-7`;
      expect(shortNameOf(webhook)).toBe('example.com/hooks');
      expect(shortNameOf({ ...webhook, targetAddress })).toMatch(/^hooks\.example\.com.…a+\/tenant-7$/);
      expect(shortNameOf({ ...webhook, targetAddress })).toHaveLength(40);
      expect(shortNameOf({ ...webhook, description: 'P'.repeat(50) })).toBe('P'.repeat(50));
      expect(shortNameOf({ ...webhook, targetAddress, name: 'n'.repeat(64) })).toBe('n'.repeat(64));
    });
  });

  test('interests are told in a few words', () => {
    const notices = ['WEBHOOK_FAILING'];
    expect(interestsInWords(['*'], notices)).toBe('All states');
    expect(interestsInWords(['OUT_FOR_DELIVERY'], notices)).toBe('Out for delivery');
    expect(interestsInWords(['CREATED', 'DELIVERED', 'WEBHOOK_FAILING'], notices)).toBe('2 states, notices');
    expect(interestsInWords(['WEBHOOK_FAILING'], notices)).toBe('notices');
  });
});
