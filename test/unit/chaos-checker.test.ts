import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { check, withoutLost } from '../programs/chaos/checker.js';
import { unknownShipment } from '../programs/chaos/load/load.js';
import type { Entry, History, Hook } from '../programs/chaos/model.js';

const states = ['CREATED', 'PICKED_UP', 'DELIVERED'];
const hook = (shipper: number, name: string, interests: string[] | null, ordered: boolean): Hook => ({
  path: `/h/${shipper}-${name}`,
  webhookId: `${shipper}-${name}`,
  secret: 'whsec_',
  shipper,
  interests,
  ordered,
});

/** Two shippers with two webhooks each. */
function goodHistory(shipments: number): History {
  const hooks = [0, 1].flatMap((shipper) => [
    hook(shipper, 'all', null, true),
    hook(shipper, 'ends', ['CREATED', 'DELIVERED'], false),
  ]);
  const accepted = Array.from({ length: shipments }, (_, n) => n).flatMap((n) =>
    states.map((state, step) => ({
      trackingId: `PH${n}`,
      shipper: n % 2,
      state,
      at: n * 10_000 + step * 2_000,
    })),
  );
  const journal = accepted.flatMap(({ trackingId, shipper, state, at }) =>
    hooks
      .filter(({ interests, ...one }) => one.shipper === shipper && (interests?.includes(state) ?? true))
      .map(({ path }): Entry => ({
        path,
        id: `${trackingId}-${state}`,
        attempt: 1,
        sequence: states.indexOf(state) + 1,
        trackingId,
        state,
        digest: `${trackingId}-${state}`,
        verified: true,
        clockOffMs: -5,
        at: at + 10,
        endedAt: at + 15,
        statusCode: 200,
      })),
  );
  const log = journal.map(({ path, id, attempt, statusCode }) => ({
    path,
    id,
    number: attempt,
    statusCode,
    durationMs: 5,
  }));
  return {
    hooks,
    stops: [],
    accepted,
    journal,
    log,
    troubles: [],
    clockWrong: [],
    mayBeLost: [],
    mayBeEarly: [],
    retryScheduleMs: [1_000, 2_000],
    output: '{"msg":"attempt"}\n',
  };
}

const invariantsOf = (history: History, allowed = 0) => [
  ...new Set(check(history, allowed).map(({ invariant }) => invariant)),
];
const withJournal = (history: History, journal: Entry[]): History => ({ ...history, journal });
const swap = <Item>(items: Item[], at: number, by: (item: Item) => Item[]) =>
  items.flatMap((item, n) => (n === at ? by(item) : [item]));

const anEntry = fc.integer({ min: 2, max: 12 }).chain((shipments) => {
  const history = goodHistory(shipments);
  return fc.nat(history.journal.length - 1).map((at) => ({ history, at, entry: history.journal[at]! }));
});
const always = (holds: (drawn: { history: History; at: number; entry: Entry }) => void) =>
  fc.assert(fc.property(anEntry, holds), { numRuns: 50 });

describe('the checker of the fault bench', () => {
  test('finds nothing in a sound history', () => {
    always(({ history }) => expect(check(history, 0)).toEqual([]));
  });

  test('I1: reports every notification that did not arrive, or got only failures', () => {
    always(({ history, at }) => {
      expect(
        invariantsOf(
          withJournal(
            history,
            history.journal.filter((_, n) => n !== at),
          ),
        ),
      ).toContain('I1 nothing lost');
      const failed = swap(history.journal, at, (entry) => [{ ...entry, statusCode: 503 }]);
      expect(invariantsOf(withJournal(history, failed))).toContain('I1 nothing lost');
    });
  });

  test('I1: excuses what was lost with a server, and requires everything accepted before', () => {
    const history = goodHistory(4); // one event every two seconds
    const mayBeLost = [{ from: 19_000, to: 27_000 }];
    const isAfter = ({ at }: { at: number }) => at >= 19_000;
    const lost = {
      ...history,
      mayBeLost,
      log: history.log.filter((_, n) => !isAfter(history.journal[n]!)), // the log of that time is lost
      journal: history.journal.filter(({ at }) => at < 19_000 || at < 27_000),
      accepted: history.accepted.filter(({ at }) => at < 28_000),
      troubles: [unknownShipment],
    };
    expect(check(lost, 0)).not.toEqual([]);
    expect(check(withoutLost(lost), 0)).toEqual([]);
    const before = lost.journal.findIndex(({ at }) => at < 19_000);
    const journal = lost.journal.filter((_, n) => n !== before);
    expect(invariantsOf(withoutLost({ ...lost, journal }))).toContain('I1 nothing lost');
  });

  test('I1: excuses what a deleted webhook did not get', () => {
    always(({ history, at, entry }) => {
      const stops = [{ path: entry.path, from: Infinity, to: Infinity, deleted: true }];
      const log = history.log.filter((_, n) => n !== at);
      const journal = history.journal.filter((_, n) => n !== at);
      expect(check({ ...history, stops, journal, log }, 0)).toEqual([]);
    });
  });

  test('I2: reports unknown events, unwanted states and events of another shipper', () => {
    always(({ history, at, entry }) => {
      const strangers = [
        { ...entry, trackingId: 'PH-unknown' },
        { ...entry, state: 'RETURNED' },
        { ...entry, path: entry.path.replace(/\d/, (shipper) => String(1 - Number(shipper))) },
        { ...entry, path: `/h/${Number(entry.trackingId.slice(2)) % 2}-ends`, state: 'PICKED_UP' },
      ];
      for (const stranger of strangers) {
        const journal = swap(history.journal, at, (own) => [own, stranger]);
        expect(invariantsOf(withJournal(history, journal), 9)).toContain('I2 nothing unexpected');
      }
    });
  });

  test('I3: counts notifications repeated after success, not retries after failure', () => {
    always(({ history, at }) => {
      const again = swap(history.journal, at, (entry) => [entry, { ...entry, at: entry.at + 1_500 }]);
      expect(invariantsOf(withJournal(history, again))).toEqual(['I3 duplicates']);
      expect(check(withJournal(history, again), 1)).toEqual([]);
      const retried = swap(history.journal, at, (entry) => [
        { ...entry, statusCode: 503 },
        { ...entry, attempt: 2, at: entry.at + 1_500 },
      ]);
      expect(invariantsOf(withJournal(history, retried))).toEqual(['I8 the log is the journal']);
    });
  });

  test('I4: reports changed bytes, another id and an invalid signature', () => {
    always(({ history, at }) => {
      const bad: ((entry: Entry) => Entry[])[] = [
        (entry) => [{ ...entry, verified: false }],
        (entry) => [entry, { ...entry, digest: 'other' }],
        (entry) => [entry, { ...entry, id: 'other' }],
      ];
      for (const make of bad)
        expect(invariantsOf(withJournal(history, swap(history.journal, at, make)), 9)).toContain(
          'I4 same id, same bytes, signed',
        );
    });
  });

  test('I4: reports a wrong signature time, unless a clock was set wrong', () => {
    always(({ history, at, entry }) => {
      const signed = swap(history.journal, at, (own) => [{ ...own, clockOffMs: 3_600_000 }]);
      const off = withJournal(history, signed);
      expect(invariantsOf(off)).toEqual(['I4 signed at the time']);
      const clockWrong = [{ from: entry.at - 1_000, to: entry.at + 1_000 }];
      expect(check({ ...off, clockWrong }, 0)).toEqual([]);
    });
  });

  test('I5: reports requests sent after a delete or during a pause, not before or after', () => {
    always(({ history, entry: { path, at } }) => {
      const during = [{ path, from: at - 100, to: at + 100, deleted: false }];
      expect(invariantsOf({ ...history, stops: during })).toEqual(['I5 nothing after a stop']);
      const before = [{ path, from: at - 100, to: at - 50, deleted: false }];
      expect(check({ ...history, stops: before }, 0)).toEqual([]);
    });
  });

  test('I7: reports a retry before its scheduled time', () => {
    always(({ history, at, entry: { path, id } }) => {
      const retriedAfter = (ms: number) => ({
        ...history,
        journal: swap(history.journal, at, (entry) => [
          { ...entry, statusCode: 503 },
          { ...entry, attempt: 2, at: entry.at + ms },
        ]),
        log: history.log.flatMap((row) =>
          row.path === path && row.id === id
            ? [
                { ...row, statusCode: 503 },
                { ...row, number: 2 },
              ]
            : [row],
        ),
      });
      expect(check(retriedAfter(950), 0)).toEqual([]); // ±10 %
      expect(invariantsOf(retriedAfter(850))).toEqual(['I7 no retry early']);
      const { at: sentAt } = history.journal[at]!;
      const within = (ms: number) => [{ from: sentAt, to: sentAt + ms }];
      expect(check({ ...retriedAfter(850), mayBeEarly: within(900) }, 0)).toEqual([]);
      expect(invariantsOf({ ...retriedAfter(850), mayBeEarly: within(800) })).toEqual(['I7 no retry early']);
    });
  });

  test('I7: compares an attempt that comes again with those of lower numbers', () => {
    const history = goodHistory(2);
    const [first] = history.journal as [Entry];
    /** Three seconds apart, but the last follows after `waitMs`. */
    const attempts = (numbers: number[], waitMs: number) => {
      const atOf = (n: number) =>
        first.at + (n < numbers.length - 1 ? n * 3_000 : (n - 1) * 3_000 + 5 + waitMs);
      const entries = numbers.map((attempt, n): Entry => {
        const isLast = n === numbers.length - 1;
        return { ...first, attempt, at: atOf(n), endedAt: atOf(n) + 5, statusCode: isLast ? 200 : 503 };
      });
      const log = history.log.flatMap((row) =>
        row.path === first.path && row.id === first.id
          ? [...new Set(numbers)].map((number) => ({ ...row, number, statusCode: 503 }))
          : [row],
      );
      const journal = swap(history.journal, 0, () => entries);
      return { ...history, journal, log, retryScheduleMs: [1_000, 2_000, 4_000] };
    };
    const isEarly = (numbers: number[], waitMs: number) =>
      invariantsOf(attempts(numbers, waitMs), 9).includes('I7 no retry early');
    expect([isEarly([1, 2, 3], 1_700), isEarly([1, 2, 3], 1_900)]).toEqual([true, false]);
    expect(isEarly([1, 2, 3, 2], 100)).toBe(false);
    expect([isEarly([1, 2, 3, 2, 3], 1_700), isEarly([1, 2, 3, 2, 3], 1_900)]).toEqual([true, false]);
    expect([isEarly([1, 2, 3, 2, 3, 4], 3_500), isEarly([1, 2, 3, 2, 3, 4], 3_700)]).toEqual([true, false]);
  });

  test('I8: reports differences between log and journal', () => {
    always(({ history, at }) => {
      const logs = [
        history.log.filter((_, n) => n !== at),
        swap(history.log, at, (row) => [row, { ...row, number: 7 }]),
        swap(history.log, at, (row) => [{ ...row, statusCode: 500 }]),
      ];
      for (const log of logs)
        expect(invariantsOf({ ...history, log })).toEqual(['I8 the log is the journal']);
      const unknown = swap(history.log, at, (row) => [{ ...row, statusCode: null, durationMs: null }]);
      expect(check({ ...history, log: unknown }, 1)).toEqual([]);
      expect(invariantsOf({ ...history, log: unknown })).toEqual(['I8 outcomes the log does not know']);
    });
  });

  test('I9: reports a state before an earlier one, if order is required', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 12 }), (shipments) => {
        const history = goodHistory(shipments);
        const backwards = withJournal(history, [...history.journal].reverse());
        expect(invariantsOf(backwards)).toEqual(['I9 in order']);
        const hooks = history.hooks.map((one) => ({ ...one, ordered: false }));
        expect(check({ ...backwards, hooks }, 0)).toEqual([]);
      }),
    );
  });

  test('reports crash traces in the output', () => {
    const output = 'node:internal/process: Unhandled rejection';
    expect(invariantsOf({ ...goodHistory(2), output })).toEqual(['no crash, no unhandled rejection']);
  });
});
