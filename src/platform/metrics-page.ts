import { Router } from 'express';
import { onlyRead } from './errors.js';
import type { Metrics } from './metrics.js';

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
