import { Router } from 'express';
import { describeError } from './errors.js';

/** Checks that must pass before work is sent here. Each rejects with its reason. */
export type HealthChecks = Record<string, () => Promise<void>>;

const checkTimeoutMs = 1_500;

/**
 * `/healthz` tells that the process lives; `/readyz` runs the checks. What only `informs` is shown in the answer
 * but does not make the role unready (contract, section 8: the API stays ready while Redis is away, and says so).
 */
export function healthPages(checks: HealthChecks, informs: HealthChecks): Router {
  const router = Router();
  router.get('/healthz', (_request, response) => {
    response.json({ status: 'OK' });
  });
  router.get('/readyz', async (_request, response) => {
    const [needed, informed] = await Promise.all([runAll(checks), runAll(informs)]);
    const ready = Object.values(needed).every((result) => result === 'OK');
    response
      .status(ready ? 200 : 503)
      .json({ status: ready ? 'OK' : 'UNAVAILABLE', checks: { ...needed, ...informed } });
  });
  return router;
}

/** Whether every check passes now. */
export const isReady = async (checks: HealthChecks): Promise<boolean> =>
  Object.values(await runAll(checks)).every((result) => result === 'OK');

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
