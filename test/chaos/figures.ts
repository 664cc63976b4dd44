import type { Figure } from '../bench/scenarios/scenario.js';
import { percentiles } from '../bench/percentiles.js';
import type { Outcome } from './fault.js';

/** Answers that were late may have been asked for just before the fault. */
const during = ({ answers, from, to }: Outcome) => answers.filter(({ at }) => at >= from && at <= to);

/** p99 of all orders handed over while the fault lasted, whatever they were answered. */
export function answeredWithin(outcome: Outcome, atMost: number): Figure {
  const all = during(outcome).filter(({ kind }) => kind === 'order');
  const counts = new Map<number, number>();
  for (const { httpStatus } of all) counts.set(httpStatus, (counts.get(httpStatus) ?? 0) + 1);
  const note = [...counts].map(([status, count]) => `${count} × ${status || 'no answer'}`).join(', ');
  const value = percentiles(all.map(({ durationMs }) => durationMs)).p99;
  return { name: 'p99 of orders during the fault', value, unit: 'ms', atMost, note };
}

/** Orders answered otherwise than with 201 while the fault lasted. */
export function notAccepted(outcome: Outcome): Figure {
  const refused = during(outcome).filter(({ kind, httpStatus }) => kind === 'order' && httpStatus !== 201);
  return { name: 'orders not accepted during the fault', value: refused.length, unit: '', atMost: 0 };
}

/** From each mark to the first notification after it; the slowest. */
export function goesOnWithin({ history, marks }: Outcome, atMost: number): Figure {
  const waits = marks.map((mark) => (history.journal.find(({ at }) => at > mark)?.at ?? Infinity) - mark);
  return { name: 'first notification after the fault', value: Math.max(0, ...waits), unit: 'ms', atMost };
}

/** From the last mark until all that was accepted before it had arrived where receivers are healthy. */
export function allThereWithin({ history, marks }: Outcome, atMost: number): Figure {
  const mark = marks.at(-1) ?? 0;
  const before = new Set(
    history.accepted.flatMap(({ trackingId, state, at }) => (at < mark ? `${trackingId} ${state}` : [])),
  );
  const first = new Map<string, number>();
  for (const { path, trackingId, state, at } of history.journal) {
    const key = `${path} ${trackingId} ${state}`;
    if (path.endsWith('-all') && before.has(`${trackingId} ${state}`) && !first.has(key)) first.set(key, at);
  }
  const last = [...first.values()].reduce((latest, at) => Math.max(latest, at), mark);
  return { name: 'all accepted before it had arrived after', value: last - mark, unit: 'ms', atMost };
}

/** Deliveries a second while the fault lasted, as a share of those before it, missing from the whole. */
export function paceMissing({ history, from, to }: Outcome, atMost: number): Figure {
  const startedAt = history.accepted[0]?.at ?? from;
  const rate = (begin: number, end: number) =>
    history.journal.filter(({ at }) => at >= begin && at < end).length / (end - begin);
  const value = Math.max(0, 100 * (1 - rate(from, to) / rate(startedAt, from)));
  return { name: 'missing of the pace of deliveries', value, unit: '%', atMost };
}
