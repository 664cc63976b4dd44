/** Compares accepted events with received notifications: each invariant of a run is a pure function of its history. */
import { unknownShipment } from './load/load.js';
import type { AcceptedEvent, Entry, History, Hook, Span, Violation } from './model.js';

/** The difference between clock readings of two processes on one machine, with rounding. */
const toleranceMs = 20;
const jitter = 0.1;

type Check = (history: History) => string[];
type Arrivals = Pick<History, 'hooks' | 'stops' | 'accepted' | 'journal'>;

const isSuccess = ({ statusCode }: Entry) => statusCode >= 200 && statusCode < 300;
const wants = (hook: Hook, event: Pick<AcceptedEvent, 'shipper' | 'state'>) =>
  hook.shipper === event.shipper && (hook.interests?.includes(event.state) ?? true);
const keyOf = (...parts: (string | number)[]) => parts.join(' ');

function groupBy<Item>(items: Item[], key: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}

const perNotification = (journal: Entry[]) => groupBy(journal, ({ path, id }) => keyOf(path, id));

export const nothingLost = ({ hooks, stops, accepted, journal }: Arrivals): string[] => {
  const arrived = new Set(
    journal.filter(isSuccess).map((entry) => keyOf(entry.path, entry.trackingId, entry.state)),
  );
  const deleted = new Set(stops.flatMap((stop) => (stop.deleted ? stop.path : [])));
  return hooks
    .filter(({ path }) => !deleted.has(path))
    .flatMap((hook) =>
      accepted
        .filter((event) => wants(hook, event))
        .map(({ trackingId, state }) => keyOf(hook.path, trackingId, state))
        .filter((key) => !arrived.has(key))
        .map((key) => `never arrived: ${key}`),
    );
};

const nothingUnexpected: Check = ({ hooks, accepted, journal }) => {
  const hookOf = new Map(hooks.map((hook) => [hook.path, hook]));
  const events = new Map(accepted.map((event) => [keyOf(event.trackingId, event.state), event]));
  return journal.flatMap(({ path, trackingId, state }) => {
    const event = events.get(keyOf(trackingId, state));
    const hook = hookOf.get(path);
    return event && hook && wants(hook, event) ? [] : `unexpected: ${keyOf(path, trackingId, state)}`;
  });
};

/** Requests beyond the first that got 2xx, and beyond the first of an attempt before that. */
export const duplicates = (journal: Entry[]): number =>
  [...perNotification(journal).values()].reduce((sum, entries) => {
    const done = entries.findIndex(isSuccess);
    const until = done < 0 ? entries : entries.slice(0, done + 1);
    const attempts = new Set(until.map(({ attempt }) => attempt)).size;
    return sum + (entries.length - until.length) + (until.length - attempts);
  }, 0);

const unknownOutcomes = ({ journal, log }: History): number => {
  const unknown = new Set(
    log.flatMap((row) => (row.statusCode === null ? keyOf(row.path, row.id, row.number) : [])),
  );
  const answered = new Set(journal.map(({ path, id, attempt }) => keyOf(path, id, attempt)));
  return [...unknown].filter((key) => answered.has(key)).length;
};

const sameBytes: Check = ({ journal }) => [
  ...journal.flatMap((entry) =>
    entry.verified ? [] : `signature does not verify: ${keyOf(entry.path, entry.id)}`,
  ),
  ...[...perNotification(journal)].flatMap(([key, entries]) =>
    new Set(entries.map(({ digest }) => digest)).size > 1 ? `its bytes differ: ${key}` : [],
  ),
  ...[...groupBy(journal, ({ path, trackingId, state }) => keyOf(path, trackingId, state))].flatMap(
    ([key, entries]) => (new Set(entries.map(({ id }) => id)).size > 1 ? `has two webhook-ids: ${key}` : []),
  ),
];

/** Receivers refuse signatures older or newer than this. */
const clockToleranceMs = 300_000;
const signedBeforeMs = 15_000;

const signedNow: Check = ({ journal, clockWrong }) =>
  journal
    .filter(({ clockOffMs }) => Math.abs(clockOffMs) > clockToleranceMs)
    .filter(({ at }) => !clockWrong.some(({ from, to }) => at >= from && at <= to + signedBeforeMs))
    .map(({ path, id, clockOffMs }) => `signed ${Math.round(clockOffMs)} ms off: ${keyOf(path, id)}`);

const nothingAfterAStop: Check = ({ stops, journal }) =>
  stops.flatMap(({ path, from, to, deleted }) =>
    journal
      .filter((entry) => entry.path === path && entry.at > from + toleranceMs && entry.at < to)
      .map(
        ({ id, at }) =>
          `sent ${Math.round(at - from)} ms after ${deleted ? 'deletion' : 'pause'}: ${keyOf(path, id)}`,
      ),
  );

/**
 * A failed notification is repeated after its step of the schedule, if the service knows of the failure. Where attempts
 * were lost with a server, they come again with their numbers: so each is compared with those of lower numbers.
 */
const noRetryEarly: Check = ({ journal, log, retryScheduleMs, mayBeEarly }) => {
  const failed = new Set(
    log.flatMap((row) => ((row.statusCode ?? 0) >= 300 ? keyOf(row.path, row.id, row.number) : [])),
  );
  const isFailure = ({ path, id, attempt }: Entry) => failed.has(keyOf(path, id, attempt));
  return [...perNotification(journal)].flatMap(([key, entries]) =>
    entries.flatMap((entry, index) => {
      const lower = entries.slice(0, index).filter(({ attempt }) => attempt < entry.attempt);
      const before = lower.at(-1);
      if (!before || !isFailure(before)) return [];
      const failures = new Set(lower.filter(isFailure).map(({ attempt }) => attempt)).size;
      const step = Math.min(failures, retryScheduleMs.length) - 1;
      const leastMs = (retryScheduleMs[step] ?? 0) * (1 - jitter);
      const waitedMs = entry.at - before.endedAt;
      const isExcused = mayBeEarly.some(({ from, to }) => entry.at >= from && entry.at <= to);
      return waitedMs < leastMs - toleranceMs && !isExcused
        ? `retried after ${Math.round(waitedMs)} of ${leastMs} ms: ${key}`
        : [];
    }),
  );
};

const logIsJournal: Check = ({ journal, log }) => {
  const entries = groupBy(journal, ({ path, id, attempt }) => keyOf(path, id, attempt));
  const rows = new Map(log.map((row) => [keyOf(row.path, row.id, row.number), row]));
  return [
    ...[...entries].flatMap(([key, requests]) => {
      const row = rows.get(key);
      if (!row) return `not in the log: ${key}`;
      const known =
        row.statusCode === null || requests.some(({ statusCode }) => statusCode === row.statusCode);
      return known ? [] : `the log says ${row.statusCode}, the journal does not: ${key}`;
    }),
    ...[...rows].flatMap(([key, row]) =>
      row.statusCode !== null && !entries.has(key) ? `only in the log: ${key}` : [],
    ),
  ];
};

const inOrder: Check = ({ hooks, journal }) => {
  const ordered = new Set(hooks.flatMap((hook) => (hook.ordered ? hook.path : [])));
  const perShipment = groupBy(
    journal.filter(({ path }) => ordered.has(path)),
    ({ path, trackingId }) => keyOf(path, trackingId),
  );
  return [...perShipment].flatMap(([key, entries]) => {
    const firsts = [...new Set(entries.map(({ sequence }) => sequence))];
    return firsts.every((sequence, n) => n === 0 || sequence > firsts[n - 1]!)
      ? []
      : `came as ${firsts.join(', ')}: ${key}`;
  });
};

const noCrash: Check = ({ output }) =>
  output.split('\n').filter((line) => /unhandled|uncaught|unexpected error|FATAL ERROR/i.test(line));

const checks: Record<string, Check> = {
  'I1 nothing lost': nothingLost,
  'I2 nothing unexpected': nothingUnexpected,
  'I4 same id, same bytes, signed': sameBytes,
  'I4 signed at the time': signedNow,
  'I5 nothing after a stop': nothingAfterAStop,
  'I7 no retry early': noRetryEarly,
  'I8 the log is the journal': logIsJournal,
  'I9 in order': inOrder,
  'no crash, no unhandled rejection': noCrash,
  'it ends as it should': ({ troubles }) => troubles,
};

/** Requests sent just before a server ended arrive within this time. */
const onTheWayMs = 2_000;
export const isIn = ({ from, to }: Span, at: number): boolean => at >= from && at <= to + onTheWayMs;

/** Uncertain: events accepted or sent while commits were not durable, and all consequences of lost shipments. */
export function withoutLost(history: History): History {
  const { accepted, journal, log, mayBeLost, troubles } = history;
  if (mayBeLost.length === 0) return history;
  const inDoubt = (at: number) => mayBeLost.some((span) => isIn(span, at));
  const acceptedAt = new Map(accepted.map(({ trackingId, state, at }) => [keyOf(trackingId, state), at]));
  const before = Math.min(...mayBeLost.map(({ from }) => from));
  const isBefore = (key: string) => (acceptedAt.get(key) ?? Infinity) < before;
  const lost = new Set([
    ...[...acceptedAt].flatMap(([key, at]) => (inDoubt(at) ? key : [])),
    ...journal.flatMap(({ trackingId, state, at }) => {
      const key = keyOf(trackingId, state);
      return inDoubt(at) && !isBefore(key) ? key : [];
    }),
  ]);
  const isLost = ({ trackingId, state }: { trackingId: string; state: string }) =>
    lost.has(keyOf(trackingId, state));
  const lostIds = new Set(journal.filter(isLost).map(({ path, id }) => keyOf(path, id)));
  // An attempt whose outcome was lost is repeated with its number.
  const sentInDoubt = new Set(
    journal.flatMap(({ path, id, attempt, at }) => (inDoubt(at) ? keyOf(path, id, attempt) : [])),
  );
  const logged = new Set(log.map(({ path, id, number }) => keyOf(path, id, number)));
  return {
    ...history,
    accepted: accepted.filter((event) => !isLost(event)),
    journal: journal.filter((entry) => {
      const key = keyOf(entry.path, entry.id, entry.attempt);
      return !isLost(entry) && (logged.has(key) || !sentInDoubt.has(key));
    }),
    log: log.filter(({ path, id }) => !lostIds.has(keyOf(path, id))),
    troubles: troubles.filter((trouble) => trouble !== unknownShipment),
  };
}

/** As many notifications as were `inFlight` at the fault may be repeated or have an unknown outcome. */
export function check(history: History, inFlight: number): Violation[] {
  const found = Object.entries(checks).flatMap(([invariant, find]) =>
    find(history).map((what) => ({ invariant, what })),
  );
  const bounded = {
    'I3 duplicates': duplicates(history.journal),
    'I8 outcomes the log does not know': unknownOutcomes(history),
  };
  for (const [invariant, count] of Object.entries(bounded))
    if (count > inFlight) found.push({ invariant, what: `${count}, allowed are ${inFlight}` });
  return found;
}
