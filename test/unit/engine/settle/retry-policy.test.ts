import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  disabledBy,
  settlementOf,
  nextStep,
  retryAfterMs,
  type RetryInput,
} from '../../../../src/engine/settle/retry-policy.js';
import { isRefused } from '../../../../src/engine/send/errors.js';
import type { Claim } from '../../../../src/engine/outbox/types.js';
import type { AttemptOutcome } from '../../../../src/engine/send/messages.js';

const dayMs = 86_400_000;
const now = new Date('2026-11-21T12:00:00Z');
const schedule = fc.array(fc.integer({ min: 1, max: dayMs }), { minLength: 1, maxLength: 10 });
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

const failed = (fields: Partial<RetryInput> = {}) =>
  nextStep({
    succeeded: false,
    refused: false,
    earlierFailures: 0,
    scheduleMs: [5_000, 300_000],
    retryAfter: null,
    now,
    random: 0.5,
    ...fields,
  });
const outcome = { ok: false, statusCode: 500, retryAfter: null, webhookDelivery: null } as AttemptOutcome;
const delayOf = (fields: Partial<RetryInput>): number => {
  const step = failed(fields);
  if (step.status !== 'RETRY') throw new Error(`${step.status}, not RETRY`);
  return step.delayMs;
};

describe('an attempt that was lost with its thread', () => {
  const lost = { ...outcome, statusCode: null, errorCode: 'LOST' } as AttemptOutcome;
  const after = (number: number, failureCount: number) =>
    settlementOf({ number, failureCount, trigger: 'SCHEDULED' } as Claim, lost, [5_000, 300_000]).status;

  test('costs no retry', () => {
    expect([after(1, 0), after(3, 0), after(4, 1)]).toEqual(['UNCHANGED', 'UNCHANGED', 'UNCHANGED']);
  });

  test('costs one if the delivery has lost several: it may be what ends the threads', () => {
    expect([after(4, 0), after(5, 1), after(6, 2)]).toEqual(['RETRY', 'RETRY', 'FAILED']);
  });
});

describe('the retry policy', () => {
  test('waits the scheduled time ±10 %, never less', () => {
    fc.assert(
      fc.property(schedule, fc.nat(9), random, (scheduleMs, position, random) => {
        const earlierFailures = position % scheduleMs.length;
        const stepMs = scheduleMs[earlierFailures]!;
        const delayMs = delayOf({ scheduleMs, earlierFailures, random });
        expect(delayMs).toBeGreaterThanOrEqual(Math.floor(0.9 * stepMs));
        expect(delayMs).toBeLessThanOrEqual(Math.ceil(1.1 * stepMs));
      }),
    );
  });

  test('spreads over the whole ±10 %', () => {
    expect(delayOf({ random: 0 })).toBe(4_500);
    expect(delayOf({ random: 0.5 })).toBe(5_000);
    expect(delayOf({ random: 0.999_999 })).toBe(5_500);
  });

  test('a success ends the delivery, whatever failed before and whatever the receiver requests', () => {
    fc.assert(
      fc.property(schedule, fc.nat(20), fc.string(), (scheduleMs, earlierFailures, retryAfter) => {
        expect(failed({ succeeded: true, scheduleMs, earlierFailures, retryAfter })).toEqual({
          status: 'SUCCEEDED',
        });
      }),
    );
  });

  test('a schedule of n waits means n + 1 attempts', () => {
    fc.assert(
      fc.property(schedule, (scheduleMs) => {
        const steps = Array.from({ length: scheduleMs.length + 1 }, (_, earlierFailures) =>
          failed({ scheduleMs, earlierFailures }),
        );
        expect(steps.map(({ status }) => status)).toEqual([...scheduleMs.map(() => 'RETRY'), 'FAILED']);
      }),
    );
    expect(failed({ scheduleMs: [] })).toEqual({ status: 'FAILED', reason: null });
  });

  test('an attempt of a replay uses up no step, not even the last', () => {
    const after = (trigger: 'SCHEDULED' | 'REPLAY', failureCount: number) =>
      settlementOf({ trigger, failureCount } as Claim, outcome, [5_000, 300_000]).status;
    expect([0, 1, 2].map((failures) => after('REPLAY', failures))).toEqual(['RETRY', 'RETRY', 'RETRY']);
    expect([0, 1, 2].map((failures) => after('SCHEDULED', failures))).toEqual(['RETRY', 'RETRY', 'FAILED']);
    expect(settlementOf({ trigger: 'REPLAY', failureCount: 0 } as Claim, outcome, []).status).toBe('FAILED');
  });

  test('Retry-After delays the next attempt, never speeds it up, and does not extend a used-up schedule', () => {
    fc.assert(
      fc.property(fc.oneof(fc.nat(9), fc.nat(200_000)), random, (seconds, random) => {
        const without = delayOf({ random });
        const asked = Math.min(seconds * 1_000, dayMs);
        expect(delayOf({ random, retryAfter: String(seconds) })).toBe(Math.max(without, asked));
      }),
    );
    expect(failed({ earlierFailures: 2, retryAfter: '30' })).toEqual({ status: 'FAILED', reason: null });
  });

  test('no header makes a wait shorter than its step or longer than a day', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string({ unit: 'binary' }),
          fc.integer().map(String),
          fc.double().map(String),
          fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
        ),
        (retryAfter) => {
          const delayMs = delayOf({ retryAfter });
          expect(delayMs).toBeGreaterThanOrEqual(5_000);
          expect(delayMs).toBeLessThanOrEqual(dayMs);
        },
      ),
    );
  });
});

/** The value in any case of letters, with spaces around it, and repeated. */
const written = (what: string) =>
  fc
    .tuple(
      fc.mixedCase(fc.constant(what)),
      fc.stringMatching(/^[ \t]{0,3}$/),
      fc.constantFrom('', ', disable', ', abort-message', ','),
    )
    .map(([value, space, more]) => space + value + space + more);
const claims = fc.record({
  trigger: fc.constantFrom('SCHEDULED' as const, 'REPLAY' as const),
  failureCount: fc.nat(12),
  isProbe: fc.boolean(),
}) as fc.Arbitrary<Claim>;
const statuses = fc.integer({ min: 100, max: 599 });
const isOk = (statusCode: number) => statusCode >= 200 && statusCode < 300;

describe('webhook-delivery', () => {
  test('abort-message on a failure ends the delivery, whatever is left of its schedule', () => {
    fc.assert(
      fc.property(
        claims,
        statuses,
        written('abort-message'),
        schedule,
        (claim, statusCode, header, steps) => {
          const ok = isOk(statusCode);
          const response = { ...outcome, ok, statusCode, webhookDelivery: header, retryAfter: '30' };
          expect(isRefused(response)).toBe(!ok);
          expect(settlementOf(claim, response, steps)).toMatchObject(
            ok
              ? { status: 'SUCCEEDED', reason: null }
              : { status: 'FAILED', reason: 'REFUSED', delayMs: null },
          );
          expect(disabledBy(response)).toBe(statusCode === 410 ? 'GONE' : null);
        },
      ),
    );
  });

  test('disable disables the webhook on any response, and a failure with it costs no retry', () => {
    fc.assert(
      fc.property(claims, statuses, written('disable'), schedule, (claim, statusCode, header, steps) => {
        const ok = isOk(statusCode);
        const response = { ...outcome, ok, statusCode, webhookDelivery: header };
        expect(disabledBy(response)).toBe(statusCode === 410 ? 'GONE' : 'REFUSED');
        expect(settlementOf(claim, response, steps)).toMatchObject({
          status: ok ? 'SUCCEEDED' : 'UNCHANGED',
          reason: null,
        });
      }),
    );
  });

  test('any other value changes nothing', () => {
    const known = /^\s*(abort-message|disable)\s*(,|$)/i;
    const others = fc.oneof(
      fc.constantFrom('', 'abort', 'abort-message;now', 'x, disable', ', abort-message', 'disabled'),
      fc.string().filter((text) => !known.test(text)),
      fc.constant(null),
    );
    fc.assert(
      fc.property(others, (webhookDelivery) => {
        expect(isRefused({ ok: false, webhookDelivery })).toBe(false);
        expect(disabledBy({ statusCode: 500, webhookDelivery })).toBeNull();
      }),
    );
  });
});

describe('Retry-After', () => {
  test.each([
    ['30', 30_000],
    [' 30 ', 30_000],
    ['0', 0],
    ['86400', dayMs],
    ['86401', dayMs],
    ['1000000000', dayMs],
    ['999999999999999', dayMs],
    ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000], // the preferred form of RFC 9110 §5.6.7
    ['Saturday, 21-Nov-26 12:00:30 GMT', 30_000], // RFC 850
    ['Sat Nov 21 12:00:30 2026', 30_000], // asctime
    ['Sun Nov 22 11:00:00 2026', 82_800_000],
    ['Tue Dec  1 12:00:00 2026', dayMs],
    ['Sun, 21 Nov 2027 12:00:00 GMT', dayMs],
    ['Saturday, 21-Nov-76 12:00:30 GMT', dayMs],
    ['Sunday, 21-Nov-77 12:00:30 GMT', 0], // more than 50 years ahead: 1977
    ['Sat, 21 Nov 2026 11:59:30 GMT', 0],
  ])('%p counts as %d ms', (header, expected) => {
    expect(retryAfterMs(header, now)).toBe(expected);
  });

  test.each([
    [null],
    [''],
    ['-5'],
    ['1.5'],
    ['1e9'],
    ['0x10'],
    ['30s'],
    ['30, 60'],
    ['soon'],
    ['Infinity'],
    ['NaN'],
    ['2027'.repeat(10)],
    ['Feb, 31 of never'],
    ['wait 35'],
    ['try 2030'],
    ['Sun, 21 Nov 2027 12:00:00'],
    ['Sun, 21 Nov 2027 12:00:00 +0000'],
    ['Sun, 31 Feb 2027 12:00:00 GMT'],
    ['Sun, 21 Nov 2027 29:00:00 GMT'],
    ['2027-11-21T12:00:00Z'],
  ])('%p is ignored', (header) => {
    expect(retryAfterMs(header, now)).toBe(0);
  });

  test('junk never delays, neither words with numbers nor an incomplete date', () => {
    const date = fc.constantFrom(
      'Sun, 21 Nov 2027 12:00:00 GMT',
      'Sunday, 21-Nov-27 12:00:00 GMT',
      'Sun Nov 21 12:00:00 2027',
      'Mon Nov  1 12:00:00 2027',
    );
    const maimed = fc.tuple(date, fc.nat()).map(([text, nth]) => {
      const at = nth % text.length;
      return text.slice(0, at) + text.slice(at + 1);
    });
    const word = fc.constantFrom('wait', 'try', 'in', 'until', 'Sun', 'Sun,', 'Nov', 'GMT');
    const rest = fc.array(fc.oneof(word, fc.nat(9_999).map(String)), { maxLength: 3 });
    const words = fc.tuple(word, rest).map(([first, others]) => [first, ...others].join(' '));
    fc.assert(
      fc.property(fc.oneof(maimed, words), (retryAfter) => {
        expect(retryAfterMs(retryAfter, now)).toBe(0);
      }),
    );
  });
});
