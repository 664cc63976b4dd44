import { Router, type Request } from 'express';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitingForSchema } from '../platform/database/migrate.js';
import { takesNoSettings } from '../platform/database/connection.js';
import { describeError, readOnlyRoute } from '../platform/errors.js';
import { every, type TaskWatch } from '../platform/tasks.js';
import type { Logger } from '../platform/telemetry/logger.js';
import type { Metrics } from '../platform/telemetry/metrics.js';

/** A check passes if it resolves; a text that it resolves with is shown to operators. */
export type HealthChecks = Record<string, () => Promise<string | void>>;

export type Health = ReturnType<typeof createHealth>;

export interface HealthOptions {
  logger: Logger;
  metrics: Pick<Metrics, 'ready' | 'draining' | 'askOnScrape'> & TaskWatch['metrics'];
  role: string;
  /** Whether the caller may read why a check fails: the reason may name hosts, roles and tables. */
  mayReadReasons(request: Request): boolean;
}

/** `reasons` are for the log and the operator; other callers get the texts of `failures`. */
interface Results {
  ready: boolean;
  reasons: Record<string, string>;
}

const failures: Record<string, string> = {
  start: 'the service is starting',
  draining: 'the service is stopping',
  postgres: 'PostgreSQL cannot be used',
  queue: 'the queue cannot be used',
  flow: 'no job comes through the queue',
  orders: 'no order becomes an attempt',
  clock: 'the clock is wrong',
};
const checkTimeoutMs = 1_500;
const intervalMs = 10_000;
const failingIntervalMs = 2_000;
const reuseMs = 1_000;
/** A check that fails for long is logged again: the line that says why may be gone from the log. */
const repeatMs = 60_000;

/**
 * Checks on request, for a scrape, every ten seconds, and every two at the start and while a check fails; a result is
 * reused for a second. Logs when a check begins to fail or fails for another reason, every minute that it still fails, and
 * when it passes again.
 */
export function createHealth({ logger, metrics, role, mayReadReasons }: HealthOptions) {
  const failing = new Map<string, { result: string; loggedAt: number }>();
  let checks: { needed: HealthChecks; informs: HealthChecks } | undefined;
  let latest: { results: Promise<Results>; endedAt: number } | undefined;
  let isLeaving = false;
  metrics.ready.set({ role }, 0);
  metrics.draining.set({ role }, 0);

  const note = (name: string, result: string) => {
    if (result === 'OK') {
      if (failing.delete(name)) logger.info({ check: name }, 'health check passes again');
      return;
    }
    const known = failing.get(name);
    if (known?.result !== result || performance.now() - known.loggedAt >= repeatMs) {
      failing.set(name, { result, loggedAt: performance.now() });
      logger.warn({ check: name, reason: result }, 'health check fails');
    }
  };
  const notReady = (name: 'start' | 'draining'): Results => ({
    ready: false,
    reasons: { [name]: failures[name]! },
  });
  const check = async ({ needed, informs }: NonNullable<typeof checks>): Promise<Results> => {
    const results = await runAll({ ...needed, ...informs });
    const reasons = Object.fromEntries(Object.entries(results).map(([name, { text }]) => [name, text]));
    if (isLeaving) return notReady('draining');
    if (checks?.needed !== needed) return { ready: false, reasons }; // `use` was called meanwhile
    for (const [name, text] of Object.entries(reasons)) note(name, text);
    const ready = Object.keys(needed).every((name) => results[name]!.passes);
    metrics.ready.set({ role }, ready ? 1 : 0);
    return { ready, reasons };
  };
  const readiness = async (): Promise<Results> => {
    if (isLeaving) return notReady('draining');
    if (!checks) return notReady('start');
    if (!latest || performance.now() - latest.endedAt >= reuseMs) {
      const entry = { results: check(checks), endedAt: Infinity };
      latest = entry;
      void entry.results.then(() => (entry.endedAt = performance.now()));
    }
    return latest.results;
  };
  const watching = every(intervalMs, 'health', { logger, metrics }, async () => {
    await readiness();
    return !checks || failing.size > 0 ? failingIntervalMs : undefined;
  });
  metrics.askOnScrape(async () => void (await readiness()));

  return {
    /** `/healthz` (the process lives) and `/readyz` (the results of the checks). */
    page: page(readiness, mayReadReasons),
    /**
     * Ready while all of `needed` pass; until the first call the process is starting. Checks in `informs` are shown but
     * do not make the role unready (the API stays ready while Redis is away, and says so).
     */
    use: (needed: HealthChecks, informs: HealthChecks = {}) => {
      checks = { needed, informs };
      latest = undefined;
    },
    leave: () => {
      isLeaving = true;
      metrics.ready.set({ role }, 0);
      metrics.draining.set({ role }, 1);
    },
    stop: watching.stop,
  };
}

/** Beginnings of reasons that name no host, role or table, and say what to do. */
const harmless = ['OK', waitingForSchema, takesNoSettings];

const publicReason = ([name, reason]: [string, string]): [string, string] => [
  name,
  harmless.find((text) => reason.startsWith(text)) ?? failures[name] ?? 'fails',
];

function page(readiness: () => Promise<Results>, mayReadReasons: HealthOptions['mayReadReasons']): Router {
  const router = Router();
  router
    .route('/healthz')
    .get((_request, response) => void response.json({ status: 'OK' }))
    .all(readOnlyRoute);
  router
    .route('/readyz')
    .get(async (request, response) => {
      const { ready, reasons } = await readiness();
      const checks = mayReadReasons(request)
        ? reasons
        : Object.fromEntries(Object.entries(reasons).map(publicReason));
      response.status(ready ? 200 : 503).json({ status: ready ? 'OK' : 'UNAVAILABLE', checks });
    })
    .all(readOnlyRoute);
  return router;
}

interface Result {
  passes: boolean;
  text: string;
}

const runAll = async (checks: HealthChecks): Promise<Record<string, Result>> =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(checks).map(async ([name, check]): Promise<[string, Result]> => [
        name,
        await run(check),
      ]),
    ),
  );

const fails = (text: string): Result => ({ passes: false, text });

const run = (check: HealthChecks[string]): Promise<Result> =>
  Promise.race([
    check().then(
      (remark) => ({ passes: true, text: remark ?? 'OK' }),
      (error: unknown) => fails(describeError(error)),
    ),
    sleep(checkTimeoutMs, fails(`no response within ${checkTimeoutMs} ms`), { ref: false }),
  ]);
