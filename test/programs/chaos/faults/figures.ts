import type { Figure } from '../../bench/scenarios/scenario.js';
import { percentiles } from '../../bench/percentiles.js';
import type { Outcome } from './fault.js';

const ordersDuring = ({ responses, from, to }: Outcome) =>
  responses.filter(({ kind, isFirst, at }) => kind === 'order' && isFirst && at >= from && at <= to);

/** The p99, whatever the response. */
export function respondedWithin(outcome: Outcome, atMost: number): Figure {
  const all = ordersDuring(outcome);
  const value = percentiles(all.map(({ durationMs }) => durationMs)).p99;
  return { name: 'order p99', value, unit: 'ms', atMost, note: byStatus(all) };
}

function byStatus(responses: Outcome['responses']): string {
  const counts = new Map<number, number>();
  for (const { httpStatus } of responses) counts.set(httpStatus, (counts.get(httpStatus) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} × ${status || 'no response'}`).join(', ');
}

export function notAccepted(outcome: Outcome): Figure {
  const refused = ordersDuring(outcome).filter(({ httpStatus }) => httpStatus !== 201);
  return { name: 'orders not accepted', value: refused.length, unit: '', atMost: 0, note: byStatus(refused) };
}

/** Responses during the fault that are neither 2xx nor a 503 with Retry-After. */
export function otherThan503({ responses, from, to }: Outcome): Figure {
  const others = responses.filter(
    ({ at, httpStatus, hasRetryAfter }) =>
      at >= from &&
      at <= to &&
      ![201, 202, 409].includes(httpStatus) &&
      !(httpStatus === 503 && hasRetryAfter),
  );
  return { name: 'errors other than 503 with Retry-After', value: others.length, unit: '', atMost: 0 };
}

const windowMs = 1_000;

/** Measures from each mark until the first second with half the previous rate; the slowest. */
export function goesOnWithin({ history, from, marks }: Outcome, atMost: number): Figure {
  const startedAt = history.accepted[0]?.at ?? from;
  const countIn = (begin: number, end: number) =>
    history.journal.filter(({ at }) => at >= begin && at < end).length;
  const half = countIn(startedAt, from) / ((from - startedAt) / windowMs) / 2;
  const waits = marks.map((mark) => {
    const rateIsBack = history.journal.find(({ at }) => at > mark && countIn(at, at + windowMs) >= half);
    return (rateIsBack?.at ?? Infinity) - mark;
  });
  return { name: 'back to half the rate after', value: Math.max(0, ...waits), unit: 'ms', atMost };
}

/** Measures from the last mark until each attempt with a lost outcome was repeated. */
export function takenUpWithin({ history, marks }: Outcome, atMost: number): Figure {
  const mark = marks.at(-1) ?? 0;
  const stopped = new Set(history.stops.map(({ path }) => path));
  const lost = history.log.filter((row) => row.durationMs === null && !stopped.has(row.path));
  const again = lost.map(
    ({ path, id, number }) =>
      history.journal.find((entry) => entry.path === path && entry.id === id && entry.attempt > number)?.at ??
      Infinity,
  );
  const value = Math.max(mark, ...again) - mark;
  return {
    name: 'interrupted attempts repeated after',
    value,
    unit: 'ms',
    atMost,
    note: `${lost.length} of them`,
  };
}

/** Measures from the last mark until all earlier failures were retried, on receivers that often fail. */
export function triedAgainWithin({ history, marks }: Outcome, atMost: number): Figure {
  const mark = marks.at(-1) ?? 0;
  const stopped = new Set(history.stops.map(({ path }) => path));
  const last = new Map<string, { at: number; failed: boolean }>();
  const again: number[] = [];
  for (const { path, id, at, statusCode } of history.journal) {
    const key = `${path} ${id}`;
    const before = last.get(key);
    if (before?.failed && before.at < mark && at >= mark) again.push(at - mark);
    last.set(key, { at, failed: statusCode >= 300 });
  }
  const open = [...last].filter(
    ([key, { at, failed }]) => failed && at < mark && !stopped.has(key.split(' ')[0]!),
  );
  const value = open.length > 0 ? Infinity : Math.max(0, ...again);
  return {
    name: 'earlier failures retried after',
    value,
    unit: 'ms',
    atMost,
    note: `${again.length} of them`,
  };
}

/** Measures from the last mark until everything accepted before it has arrived at healthy receivers. */
export function allThereWithin({ history, marks }: Outcome, atMost: number): Figure {
  const mark = marks.at(-1) ?? 0;
  const before = new Set(
    history.accepted.flatMap(({ trackingId, state, at }) => (at < mark ? `${trackingId} ${state}` : [])),
  );
  const stopped = new Set(history.stops.map(({ path }) => path));
  const first = new Map<string, number>();
  for (const { path, trackingId, state, at } of history.journal) {
    const key = `${path} ${trackingId} ${state}`;
    if (
      path.endsWith('-all') &&
      !stopped.has(path) &&
      before.has(`${trackingId} ${state}`) &&
      !first.has(key)
    )
      first.set(key, at);
  }
  const last = [...first.values()].reduce((latest, at) => Math.max(latest, at), mark);
  return { name: 'backlog delivered after', value: last - mark, unit: 'ms', atMost };
}

/** From acceptance to first arrival at healthy receivers. */
function waitsOf({ history }: Outcome, begin: number, end: number) {
  const stopped = new Set(history.stops.map(({ path }) => path));
  const acceptedAt = new Map(
    history.accepted.map(({ trackingId, state, at }) => [`${trackingId} ${state}`, at]),
  );
  const waits = history.journal.flatMap(({ path, attempt, trackingId, state, at }) => {
    const accepted = acceptedAt.get(`${trackingId} ${state}`) ?? Infinity;
    const counts = path.endsWith('-all') && !stopped.has(path) && attempt === 1;
    return counts && accepted >= begin && accepted <= end ? Math.max(0, at - accepted) : [];
  });
  return percentiles(waits);
}

/** The p99, relative to that before the fault. */
export function othersUndisturbed(outcome: Outcome): Figure {
  const before = waitsOf(outcome, 0, outcome.from).p99;
  return {
    name: 'delivery p99 of the other webhooks',
    value: waitsOf(outcome, outcome.from, outcome.to).p99,
    unit: 'ms',
    atMost: Math.round(Math.max(before * 1.1, before + 50)),
    note: `${Math.round(before)} ms before`,
  };
}

/** The p50, relative to that before the fault. Within a few milliseconds it means nothing. */
export function othersMedian(outcome: Outcome): Figure {
  const before = waitsOf(outcome, 0, outcome.from).p50;
  return {
    name: 'delivery p50 of the other webhooks',
    value: waitsOf(outcome, outcome.from, outcome.to).p50,
    unit: 'ms',
    atMost: Math.round(Math.max(before * 1.5, before + 10)),
    note: `${Math.round(before)} ms before`,
  };
}

/** The p50 of orders, by what it was before. */
export function orderSlowdown({ responses, from, to }: Outcome, atMost: number, since = from): Figure {
  const p50 = (begin: number, end: number) =>
    percentiles(
      responses.flatMap(({ kind, isFirst, at, durationMs }) =>
        kind === 'order' && isFirst && at >= begin && at <= end ? durationMs : [],
      ),
    ).p50;
  const [before, meanwhile] = [p50(0, from), p50(since, to)];
  const note = `${before.toFixed(1)} ms before, ${meanwhile.toFixed(1)} ms meanwhile`;
  return { name: 'order p50 to that before', value: meanwhile / before, unit: '×', atMost, note };
}

/** The p99 from acceptance to arrival at the receivers of the load that are healthy. */
export function othersArriveWithin(outcome: Outcome, atMost: number, since = outcome.from): Figure {
  const [before, meanwhile] = [waitsOf(outcome, 0, outcome.from), waitsOf(outcome, since, outcome.to)];
  const note = `p99 ${Math.round(before.p99)} ms before; p50 ${Math.round(before.p50)} and ${Math.round(meanwhile.p50)} ms`;
  return { name: 'delivery p99 of the other webhooks', value: meanwhile.p99, unit: 'ms', atMost, note };
}

/** Deliveries a second during the fault, as the share missing from those before. */
export function paceMissing({ history, from, to }: Outcome, atMost: number): Figure {
  const startedAt = history.accepted[0]?.at ?? from;
  const rate = (begin: number, end: number) =>
    history.journal.filter(({ at }) => at >= begin && at < end).length / (end - begin);
  const value = Math.max(0, 100 * (1 - rate(from, to) / rate(startedAt, from)));
  return { name: 'drop in the delivery rate', value, unit: '%', atMost };
}
