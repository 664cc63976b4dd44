import { describe, expect, test } from '@jest/globals';
import { errorCodes, errorDetails } from '../../../src/engine/send/errors.js';
import { deliveryStatuses } from '../../../src/history/log/page-store.js';
import {
  outcomeInShort,
  blockerOf,
  isRetrying,
  retryingText,
  waitInShort,
  freely,
  type AttemptLike,
  type DeliveryLike,
} from '../../../src/portal/in-short.js';
import {
  attemptSentence,
  deliverySentence,
  endInWords,
  waitedSentence,
} from '../../../src/portal/sentences.js';
import { replayAnswer, replaySentence } from '../../../src/portal/places/recover/sentences.js';
import { durationText, waitText } from '../../../src/portal/units.js';

const nowMs = Date.parse('2026-11-20T12:00:00Z');
const inMs = (ms: number) => new Date(nowMs + ms).toISOString();

const attempt = (more: Partial<AttemptLike>): AttemptLike => ({
  durationMs: 212,
  statusCode: null,
  errorCode: null,
  ...more,
});
const failure503 = attempt({ statusCode: 503, errorCode: 'HTTP_STATUS' });

const delivery = (more: Partial<DeliveryLike>): DeliveryLike => ({
  status: 'PENDING',
  heldBy: null,
  nextProbeAt: null,
  reason: null,
  attemptCount: 0,
  lastAttempt: null,
  nextAttemptAt: null,
  ...more,
});
const told = (more: Partial<DeliveryLike>) => deliverySentence(delivery(more), nowMs);

describe('an attempt', () => {
  test.each<[Partial<AttemptLike>, string]>([
    [{ statusCode: 204, durationMs: 84 }, 'Your server responded 204 in 84 ms.'],
    [
      { statusCode: 301, errorCode: 'HTTP_STATUS' },
      'Your server responded 301 in 212 ms. Redirects are not followed: register the final address.',
    ],
    [
      { statusCode: 410, errorCode: 'HTTP_STATUS' },
      'Your server responded 410 in 212 ms. 410 means gone, so the webhook was disabled.',
    ],
    [
      { durationMs: 15_003, errorCode: 'TIMEOUT' },
      'Your server did not respond within 15 s. Respond first, and do the work after that.',
    ],
    [
      { durationMs: 15_003, errorCode: 'TIMEOUT', statusCode: 200 },
      'Your server responded 200, but did not finish within 15 s. End the response; a short body is enough.',
    ],
    [
      { statusCode: 200, errorDetail: 'MALFORMED_HEADER' },
      'Your server responded 200 in 212 ms, but its headers are not valid HTTP. The status counts all the same. Other clients may refuse it: look for a space in the name of a header, a control character in a value, or a line that ends without CR.',
    ],
    [
      { errorCode: 'PROTOCOL', errorDetail: 'RESPONSE_TOO_LARGE' },
      'Your server sent 64 KiB, and no status among them. The connection was closed then.',
    ],
    [
      { errorCode: 'DNS', errorDetail: 'TOO_MANY_ADDRESSES' },
      'The host name has more than 32 addresses. None of them is called.',
    ],
    [
      { errorCode: 'RESET', durationMs: 40 },
      'Your server closed the connection without a response after 40 ms. Look in its log for a crash. A proxy or a firewall before it may end connections, too.',
    ],
    [
      { errorCode: 'TLS' },
      'No secure connection could be made. TLS failed: check the certificate and its intermediate certificates, and that your server has TLS 1.2 or 1.3 with ECDHE.',
    ],
    [{ errorCode: 'TLS', errorDetail: 'EXPIRED' }, "Your server's certificate has expired. Renew it."],
    [
      { errorCode: 'ADDRESS_DENIED' },
      'The target address must not be called. Nothing was sent. Private and internal addresses are refused: register a public one.',
    ],
    [
      { errorCode: 'LOST', durationMs: 5_012 },
      'The attempt was interrupted. It is not known whether your server got the notification.',
    ],
    [
      { durationMs: null },
      'The attempt was interrupted. It is not known whether your server got the notification.',
    ],
    [{ errorCode: 'LATER_CODE' }, 'The attempt failed (LATER_CODE).'],
  ])('%j is told as a sentence', (more, sentence) => {
    expect(attemptSentence(attempt(more))).toBe(sentence);
  });

  test.each([400, 401, 403])('a %d speaks of the secret first', (statusCode) => {
    expect(attemptSentence(attempt({ statusCode, errorCode: 'HTTP_STATUS' }))).toMatch(
      /^Your server responded 40\d in 212 ms\. If it verifies signatures, this is what a wrong secret looks like\. If not, /,
    );
  });

  test('every failure has a hint of what to do', () => {
    for (const errorCode of errorCodes.filter((code) => code !== 'HTTP_STATUS'))
      expect(attemptSentence(attempt({ errorCode }))).toMatch(/\. \w.+[.?]$/);
    for (const statusCode of [302, 400, 409, 418, 500, 507])
      expect(attemptSentence(attempt({ statusCode, errorCode: 'HTTP_STATUS' }))).toMatch(/ ms\. \w.+\.$/);
  });

  test.each([401, 403, 404, 405, 413, 429, 502, 504])(
    'a %d says what to do or what it means',
    (statusCode) => {
      const sentence = attemptSentence(attempt({ statusCode, errorCode: 'HTTP_STATUS' }));
      expect(sentence).toMatch(new RegExp(`^Your server responded ${statusCode} in 212 ms\\. \\w.+[.?]$`));
    },
  );

  test('every error code of the API has a sentence of its own', () => {
    const sentences = errorCodes.map((errorCode) =>
      attemptSentence(attempt({ errorCode, ...(errorCode === 'HTTP_STATUS' && { statusCode: 500 }) })),
    );
    expect(new Set(sentences).size).toBe(errorCodes.length);
    expect(sentences.join()).not.toContain('The attempt failed');
  });

  test('every error detail of the API has words of its own, where it occurs', () => {
    const places = [
      { statusCode: 200 },
      { errorCode: 'TLS' },
      { errorCode: 'DNS' },
      { errorCode: 'PROTOCOL' },
      { errorCode: 'CONNECT' },
    ];
    const told = (errorDetail?: string) =>
      places.map((place) => attemptSentence(attempt({ ...place, errorDetail })));
    const details = errorDetails.filter((detail) => detail !== 'REFUSED'); // the delivery's sentence tells it
    const sentences = details.flatMap((detail) => told(detail).filter((one) => !told().includes(one)));
    for (const detail of details) expect([detail, told(detail)]).not.toEqual([detail, told()]);
    expect(new Set(sentences).size).toBe(sentences.length);
  });
});

describe('a delivery', () => {
  const retried = { lastAttempt: failure503, attemptCount: 2 };

  test.each<[Partial<DeliveryLike>, string]>([
    [{}, 'It is due now.'],
    [{ nextAttemptAt: inMs(30_000) }, 'It is due in 30 s.'],
    [{ status: 'SENDING', attemptCount: 1 }, 'It is being sent.'],
    [
      { status: 'HELD', heldBy: 'TURN' },
      'It waits for an earlier state of this shipment, which is still owed.',
    ],
    [
      { status: 'HELD', heldBy: 'PAUSED' },
      'It is waiting because the webhook is paused. It will be sent when the webhook is resumed.',
    ],
    [
      { status: 'HELD', heldBy: 'CIRCUIT', nextProbeAt: inMs(20_000) },
      'It is waiting because your server kept failing; next probe in 20 s or later. If it works again, send the webhook a test: a success sends what is held.',
    ],
    [
      { status: 'HELD', heldBy: 'CIRCUIT', nextProbeAt: inMs(-20_000) },
      'It is waiting because your server kept failing; next probe with the next retry. If it works again, send the webhook a test: a success sends what is held.',
    ],
    [{ status: 'CANCELLED', reason: 'WEBHOOK_DELETED' }, 'It was cancelled: its webhook was deleted.'],
    [
      { status: 'CANCELLED', reason: 'ERASED' },
      'It was cancelled: the personal data of its shipment was erased.',
    ],
    [
      { status: 'SUCCEEDED', lastAttempt: attempt({ statusCode: 200 }), attemptCount: 1 },
      'Your server responded 200 in 212 ms.',
    ],
  ])('%j is told as a sentence', (more, sentence) => {
    expect(told(more)).toBe(sentence);
  });

  test('that failed says what was responded and when it is tried next', () => {
    const lastAttempt = attempt({ statusCode: 500, errorCode: 'HTTP_STATUS' });
    expect(told({ ...retried, lastAttempt, nextAttemptAt: inMs(4 * 60_000) })).toBe(
      'Your server responded 500 in 212 ms; next attempt in 4 min. It failed inside: search its log for the webhook-id.',
    );
    const startedAt = '2026-11-20T02:41:44.212-06:00';
    expect(told({ ...retried, lastAttempt: { ...lastAttempt, startedAt }, eventId: 'evt-7' })).toContain(
      'It failed inside: search its log for webhook-id evt-7 at 2026-11-20 08:41:44 UTC.',
    );
    expect(attemptSentence({ ...lastAttempt, startedAt, statusCode: 418 }, 'evt-7')).toContain(
      'the request is at fault: search its log for webhook-id evt-7 at 2026-11-20 08:41:44 UTC.',
    );
    expect(told({ ...retried, nextAttemptAt: inMs(-1) })).toBe(
      'Your server responded 503 in 212 ms; next attempt now. It says that it is temporarily unavailable.',
    );
  });

  test('that is held or under way after a failure says the failure first', () => {
    expect(told({ ...retried, status: 'HELD', heldBy: 'CIRCUIT', nextProbeAt: inMs(9_000) })).toBe(
      'Your server responded 503 in 212 ms. It is waiting because your server kept failing; next probe in 9 s or later. If it works again, send the webhook a test: a success sends what is held.',
    );
    expect(told({ ...retried, status: 'SENDING' })).toBe(
      'Your server responded 503 in 212 ms. Attempt 2 is under way.',
    );
  });

  test('whose retries are used up says so', () => {
    const lastAttempt = attempt({ errorCode: 'PROTOCOL' });
    expect(told({ status: 'FAILED', lastAttempt, attemptCount: 10 })).toBe(
      'Your server did not respond with valid HTTP; retries are used up after 10 attempts. Is another kind of server on this port, or one that speaks https?',
    );
    expect(told({ status: 'FAILED', lastAttempt, attemptCount: 1 })).toBe(
      'Your server did not respond with valid HTTP; it will not be sent again. Is another kind of server on this port, or one that speaks https?',
    );
    expect(told({ status: 'FAILED', lastAttempt, attemptCount: 2, reason: 'REFUSED' })).toBe(
      'Your server did not respond with valid HTTP; it asked for no more attempts. Is another kind of server on this port, or one that speaks https?',
    );
  });

  describe('that waits its turn', () => {
    const waiting = (more: Partial<DeliveryLike>, deliveryId: string, state: string) => ({
      ...delivery(more),
      ...{ deliveryId, state, webhookId: 'w', trackingId: 't' },
    });
    const held = waiting({ status: 'HELD', heldBy: 'TURN' }, '3', 'PICKED_UP');
    const refused = attempt({ statusCode: 400, errorCode: 'HTTP_STATUS' });
    const first = waiting(
      { lastAttempt: refused, attemptCount: 1, nextAttemptAt: inMs(60_000) },
      '1',
      'CREATED',
    );
    const between = waiting({ status: 'HELD', heldBy: 'TURN' }, '2', 'IN_TRANSIT');

    test.each<[Partial<DeliveryLike>, string]>([
      [{}, 'waits for Created (400, retry in 1 min)'],
      [
        { lastAttempt: attempt({ errorCode: 'CONNECT' }) },
        'waits for Created (refused the connection, retry in 1 min)',
      ],
      [{ status: 'SENDING' }, 'waits for Created (being sent)'],
      [{ lastAttempt: null, attemptCount: 0, nextAttemptAt: null }, 'waits for Created'],
    ])('says what it waits for: %j', (more, text) => {
      const blocker = blockerOf(held, [between, { ...first, ...more }]);
      expect(waitInShort(held, nowMs, freely, blocker)).toBe(text);
      expect(deliverySentence(held, nowMs, freely, blocker)).toMatch(/^It waits for Created/);
    });

    test('waits for no other webhook or shipment, and for nothing that is finished', () => {
      const others = [
        { ...first, webhookId: 'v' },
        { ...first, trackingId: 'u' },
        { ...first, status: 'SUCCEEDED' },
        { ...first, deliveryId: '4' },
        between,
      ];
      expect(blockerOf(held, others)).toBeNull();
      expect(blockerOf(first, [between])).toBeNull();
    });
  });

  test('that failed and is tried again is retrying, and says how often it was tried', () => {
    expect(
      [{}, { attemptCount: 2 }, { attemptCount: 2, status: 'HELD' }].map((more) =>
        isRetrying(delivery(more)),
      ),
    ).toEqual([false, true, false]);
    expect(retryingText(2, 10)).toBe('Retrying 2/10');
    expect(retryingText(12, 10)).toBe('Retrying');
  });

  test('of any status has a sentence', () => {
    for (const status of [...deliveryStatuses, 'A_LATER_ONE'])
      expect(told({ status })).toMatch(/^[A-Z].*\.$/);
  });
});

test('times are written in the unit that a person would use', () => {
  expect([0, 84, 999].map(durationText)).toEqual(['0 ms', '84 ms', '999 ms']);
  expect([1_000, 1_440, 15_000].map(durationText)).toEqual(['1 s', '1.4 s', '15 s']);
  expect([200, 59_000, 240_000].map(waitText)).toEqual(['1 s', '59 s', '4 min']);
  expect([7_500_000, 12 * 3_600_000, 86_400_000, 97_200_000].map(waitText)).toEqual([
    '2 h 5 min',
    '12 h',
    '1 d',
    '1 d 3 h',
  ]);
});

test('a row of the log says in short what was responded, and what it waits for', () => {
  expect(outcomeInShort(null)).toBe('–');
  expect(outcomeInShort(failure503)).toBe('503 in 212 ms');
  expect(outcomeInShort(attempt({ errorCode: 'TIMEOUT', durationMs: 15_002 }))).toBe('No response in 15 s');
  expect(outcomeInShort(attempt({ errorCode: 'RESET' }))).toBe('Connection closed');
  expect(outcomeInShort(attempt({ errorCode: 'CONNECT' }))).toBe('Refused the connection');
  expect(outcomeInShort(attempt({ durationMs: null }))).toBe('Interrupted');
  const waits = (more: Partial<DeliveryLike>) => waitInShort(delivery(more), nowMs);
  expect(waits({ lastAttempt: failure503, nextAttemptAt: inMs(240_000) })).toBe('in 4 min');
  expect(waits({})).toBe('');
  expect(waits({ status: 'HELD', heldBy: 'PAUSED' })).toBe('paused');
  expect(waits({ status: 'HELD', heldBy: 'CIRCUIT', nextProbeAt: inMs(20_000) })).toBe(
    'probe in 20 s or later',
  );
  expect(waits({ status: 'SUCCEEDED' })).toBe('');
});

test('a delivery that waits for the rate of its webhook says how much that is, if it is known', () => {
  const held = delivery({ status: 'HELD', heldBy: 'RATE' });
  const limited = { ...freely, maxPerSecond: 5 };
  expect(waitInShort(held, nowMs, limited)).toBe('at most 5 a second');
  expect(deliverySentence(held, nowMs, limited)).toBe(
    'It is waiting because the webhook is called at most 5 times a second.',
  );
  expect(waitInShort(held, nowMs)).toBe('called more slowly for now');
  expect(deliverySentence(held, nowMs)).toBe(
    'It is waiting because the webhook is called more slowly for now: its receiver was slow or overloaded, or its host has not agreed to more.',
  );
});

test('while the webhook is not called, a retry has no time', () => {
  const retry = delivery({ attemptCount: 1, lastAttempt: failure503, nextAttemptAt: inMs(240_000) });
  expect(deliverySentence(retry, nowMs, { ...freely, status: 'PAUSED' })).toContain(
    '; next attempt when the webhook is resumed.',
  );
  expect(waitInShort(retry, nowMs, { ...freely, status: 'PAUSED' })).toBe('paused');
  expect(waitInShort(retry, nowMs, { ...freely, status: 'DISABLED' })).toBe('disabled');
});

test('a replay says what it sends, or why it sends nothing', () => {
  expect(replayAnswer({ queued: 12, reason: null })).toBe('It will send 12 deliveries.');
  expect(replayAnswer({ queued: 1, reason: null })).toBe('It will send 1 delivery.');
  expect(replayAnswer({ queued: null, reason: null })).toBe(
    'It has begun, and counts its deliveries as it goes.',
  );
  for (const reason of ['NOTHING_RECORDED', 'NO_INTEREST', 'ALL_SUCCEEDED', 'EXPIRED', 'ERASED', 'PARKED'])
    expect(replayAnswer({ queued: 0, reason })).not.toBe('There is nothing to send.');
  expect(replayAnswer({ queued: 0, reason: null })).toBe('There is nothing to send.');
  // Others may have succeeded.
  expect(replayAnswer({ queued: 0, reason: 'PARKED' })).toContain('what is left of it is sent automatically');
});

test('a replay says how far it has come', () => {
  expect(replaySentence({ status: 'RUNNING', done: 3, total: null })).toBe('3 settled so far.');
  expect(replaySentence({ status: 'RUNNING', done: 3, total: 1_200 })).toBe('3 of 1,200 deliveries settled.');
  expect(replaySentence({ status: 'CANCELLED', done: 3, total: 5 })).toBe(
    'It was cancelled: 3 of 5 deliveries settled.',
  );
  expect(replaySentence({ status: 'DONE', done: 0, total: 0 })).toBe('There was nothing to send.');
});

test('a row of a shipment says in short why a delivery goes no further', () => {
  const end = (more: Partial<DeliveryLike>) => endInWords(delivery(more));
  expect(end({ status: 'CANCELLED', reason: 'SUPERSEDED' })).toBe(
    'a later state of the shipment took its place',
  );
  expect(end({ status: 'FAILED', attemptCount: 10 })).toBe('retries are used up after 10 attempts');
  for (const status of ['PENDING', 'HELD', 'SUCCEEDED']) expect(end({ status })).toBe('');
});

test('a late attempt says what it had waited for, the rest is left out', () => {
  const none = { turn: 0, receiver: 0, circuit: 0, paused: 0, rate: 0, us: 0 };
  expect(waitedSentence({ ...none, turn: 12_000, us: 1_400, rate: 999 })).toBe(
    'It had waited 12 s for its turn and 1.4 s for us.',
  );
  expect(waitedSentence(none)).toBe('');
  expect(waitedSentence(null)).toBe('');
});
