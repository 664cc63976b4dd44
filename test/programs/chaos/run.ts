import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../bench/scenarios/scenario.js';
import { check, isIn, withoutLost } from './checker.js';
import type { Fault, Outcome } from './faults/fault.js';
import { startLoad } from './load/load.js';
import type { AcceptedEvent, Span, Violation } from './model.js';
import { retryScheduleMs } from './world/service.js';
import { stopSome } from './load/stops.js';
import { startWorld, type World } from './world/world.js';

export interface RunOptions {
  queue: string;
  seed: number;
  eventsPerSecond: number;
  /** The least duration; it continues until the fault is over. */
  seconds: number;
  scale: number;
  onStarted(world: World): void;
}

export interface Result {
  fault: string;
  promise: string;
  queue: string;
  seed: number;
  seconds: number;
  events: number;
  notifications: number;
  violations: Violation[];
  figures: Figure[];
  notRun?: string;
}

/** The fault comes after a third of the load, which continues as long after it; 20 seconds of a long one. */
const thirds = 3;
const longestCalmMs = 20_000;
const drainTimeoutMs = 180_000;
/** Repetitions come within a lease and a sweep. */
const aftermathMs = 13_000;
const quickAftermathMs = 2_000;
const now = () => performance.timeOrigin + performance.now();

/** Null if it needs a Redis and there is none. */
export async function run(fault: Fault, options: RunOptions): Promise<Result | null> {
  const { queue, seed, eventsPerSecond } = options;
  const startedAt = performance.now();
  const world = await startWorld({
    queue,
    needs: fault.needs ?? {},
    workers: fault.workers,
    seed,
    byName: fault.byName ?? false,
    api: fault.api,
  });
  if (!world) return null;
  options.onStarted(world);
  const loadedAt = performance.now();
  const load = startLoad(world.service.url, world.accounts, eventsPerSecond, seed);
  try {
    const calmMs = Math.min((options.seconds * 1_000) / thirds, longestCalmMs);
    await sleep(calmMs);
    const stopping = stopSome(world, calmMs);
    stopping.catch(() => undefined); // awaited below, and may fail before
    const endsAt = loadedAt + options.seconds * 1_000;
    const struck = await strike(fault, world, options, endsAt - calmMs);
    await sleep(Math.max(calmMs, endsAt - performance.now()));
    const stops = await stopping;
    const neverAccepted = await load.stop();
    const accepted = [...load.accepted, ...struck.accepted];
    const kept = accepted.filter(({ at }) => !struck.mayBeLost.some((span) => isIn(span, at)));
    const unsettled = await drained(world, kept.length);
    await sleep(options.scale < 1 ? quickAftermathMs : aftermathMs);
    const whole = {
      hooks: world.hooks,
      stops,
      accepted,
      journal: world.journal(),
      log: await world.log(),
      clockWrong: struck.clockWrong,
      mayBeLost: struck.mayBeLost,
      mayBeEarly: struck.mayBeEarly,
      retryScheduleMs,
      troubles: [...neverAccepted, ...unsettled, ...world.service.deserters()],
      output: world.service.output(),
    };
    const history = withoutLost(whole);
    const outcome: Outcome = { history, responses: load.responses, ...struck };
    return {
      fault: fault.name,
      promise: fault.promise,
      queue,
      seed,
      seconds: Math.round((performance.now() - startedAt) / 1_000),
      events: history.accepted.length,
      notifications: history.journal.length,
      violations: check(history, fault.inFlight + struck.repeatable),
      figures: [...struck.noted, ...fault.figures(outcome)],
    };
  } finally {
    void load.stop(0); // over already, unless something failed
    await world.stop();
  }
}

async function strike(fault: Fault, world: World, options: RunOptions, untilMs: number) {
  const random = randomOf(options.seed);
  const marks: number[] = [];
  const noted: Figure[] = [];
  const from = now();
  const mayBeLost: Span[] = [];
  const mayBeEarly: Span[] = [];
  const clockWrong: Span[] = [];
  const accepted: AcceptedEvent[] = [];
  let repeatable = 0;
  await fault.inject({
    world,
    pause: (ms) => sleep(Math.max(1_000, ms * options.scale)),
    times: (count) => Math.max(1, Math.round(count * options.scale)),
    random,
    leftMs: () => untilMs - performance.now(),
    mayRepeat: (attempts) => void (repeatable += attempts),
    mayLose: (span) => {
      mayBeLost.push(span);
      repeatable += world.journal().filter(({ at }) => isIn(span, at)).length;
    },
    mayRetryEarly: (span) => void mayBeEarly.push(span),
    maySignWrongly: (span) => void clockWrong.push(span),
    alsoAccepted: (events) => void accepted.push(...events),
    mark: () => void marks.push(now()),
    note: (figure) => void noted.push(figure),
  });
  return { from, to: now(), marks, noted, repeatable, mayBeLost, mayBeEarly, clockWrong, accepted };
}

export async function drained(world: Pick<World, 'sql'>, events: number): Promise<string[]> {
  const until = performance.now() + drainTimeoutMs;
  let last = 'the database did not respond';
  for (; performance.now() < until; await sleep(200)) {
    const [row] = await world
      .sql<{ recorded: number; open: boolean }>(
        `select (select count(*)::int from events where shipment_id is not null) as recorded,
                exists (select 1 from outbox) or exists (select 1 from orders_to_create) as open`,
      )
      .catch(() => []);
    if (row && row.recorded >= events && !row.open) return [];
    if (row) last = `${row.recorded} of ${events} events recorded, deliveries open: ${row.open}`;
  }
  const owed = await world
    .sql<{ line: string }>(stillOwed)
    .catch((error: Error) => [{ line: `not known: ${error.message}` }]);
  return [
    `not settled after ${drainTimeoutMs / 1_000} s: ${[last, ...owed.map(({ line }) => line)].join('; ')}`,
  ];
}

/** A line for each webhook that is still owed something, with what PostgreSQL says about why. */
const stillOwed = `
  select concat_ws(' ', regexp_replace(w.target_address, '^https?://[^/]+', ''), count(*), 'owed', w.status,
                   case when w.suspended then 'suspended' end, case when w.deleted_at is not null then 'deleted' end,
                   'circuit ' || coalesce(max(c.open_until)::text, 'closed'), 'probed until ' || max(c.probe_until)::text,
                   string_agg(distinct o.status || case when o.waits_turn then ' in turn' else '' end, ', '),
                   'due from ' || min(o.due_at)::text, 'leased until ' || max(o.lease_until)::text, 'at ' || now()::text)
           as line
    from outbox o join webhooks w using (webhook_id) left join circuits c using (webhook_id)
   group by w.webhook_id`;

/** Mulberry32: the same numbers in [0, 1) for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
