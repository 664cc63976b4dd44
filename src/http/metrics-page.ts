import { Router } from 'express';
import { onlyRead } from '../platform/errors.js';
import type { Metrics } from '../platform/metrics.js';

/** `/metrics` for Prometheus. */
export function metricsPage(metrics: Metrics): Router {
  const router = Router();
  router
    .route('/metrics')
    .get(async (_request, response) => {
      response.type(metrics.contentType).send(await metrics.text());
    })
    .all(onlyRead);
  return router;
}
