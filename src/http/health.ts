import { Router } from 'express';
import { describeError, onlyRead } from '../platform/errors.js';
import { every } from '../platform/every.js';
import type { Logger } from '../platform/logger.js';

/** Checks by name. Each rejects with the reason why it fails. */
export type HealthChecks = Record<string, () => Promise<void>>;

export interface Health {
  /** `/healthz` tells that the process lives; `/readyz` runs the checks. */
  page: Router;
  /**
   * Ready while the `needed` pass; before the first call the process is starting. What only `informs` is shown but
   * does not make the role unready (contract, section 8: the API stays ready while Redis is away, and says so).
   */
  use(needed: HealthChecks, informs?: HealthChecks): void;
  stop(): Promise<void>;
}

const checkTimeoutMs = 1_500;
const intervalMs = 2_000;

/**
 * Checks when asked and every two seconds. A check that begins to fail, or fails for another reason than before, is
 * logged once, and once when it passes again. `onReady` hears every result.
 */
export function createHealth(logger: Logger, onReady: (ready: boolean) => void): Health {
  const failing = new Map<string, string>();
  let checks: { needed: HealthChecks; informs: HealthChecks } | undefined;

  const note = (name: string, result: string) => {
    if (result === 'OK') {
      if (failing.delete(name)) logger.info({ check: name }, 'health check passes again');
    } else if (failing.get(name) !== result) {
      failing.set(name, result);
      logger.warn({ check: name, reason: result }, 'health check fails');
    }
  };
  const look = async (): Promise<{ ready: boolean; results: Record<string, string> }> => {
    if (!checks) return { ready: false, results: { start: 'the service is starting' } };
    const { needed, informs } = checks;
    const results = await runAll({ ...needed, ...informs });
    for (const [name, result] of Object.entries(results)) note(name, result);
    const ready = Object.keys(needed).every((name) => results[name] === 'OK');
    onReady(ready);
    return { ready, results };
  };
  const watching = every(intervalMs, 'health', logger, async () => void (await look()));

  return {
    page: page(look),
    use: (needed, informs = {}) => void (checks = { needed, informs }),
    stop: watching.stop,
  };
}

function page(look: () => Promise<{ ready: boolean; results: Record<string, string> }>): Router {
  const router = Router();
  router
    .route('/healthz')
    .get((_request, response) => void response.json({ status: 'OK' }))
    .all(onlyRead);
  router
    .route('/readyz')
    .get(async (_request, response) => {
      const { ready, results } = await look();
      response.status(ready ? 200 : 503).json({ status: ready ? 'OK' : 'UNAVAILABLE', checks: results });
    })
    .all(onlyRead);
  return router;
}

const runAll = async (checks: HealthChecks): Promise<Record<string, string>> =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(checks).map(async ([name, check]): Promise<[string, string]> => [
        name,
        await run(check),
      ]),
    ),
  );

function run(check: () => Promise<void>): Promise<string> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(`no answer within ${checkTimeoutMs} ms`), checkTimeoutMs);
    check()
      .then(() => resolve('OK'))
      .catch((error: unknown) => resolve(describeError(error)))
      .finally(() => clearTimeout(timer));
  });
}
