import { Router, type Request } from 'express';
import { onlyRead, unauthorized } from '../platform/errors.js';
import type { Metrics } from '../platform/metrics.js';

/** `/metrics` for Prometheus. */
export function metricsPage(metrics: Metrics, isAllowed: (request: Request) => boolean): Router {
  const router = Router();
  router
    .route('/metrics')
    .get(async (request, response) => {
      if (!isAllowed(request)) throw unauthorized();
      response.type(metrics.contentType).send(await metrics.text());
    })
    .all(onlyRead);
  return router;
}
