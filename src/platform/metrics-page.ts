import { Router } from 'express';
import type { Metrics } from './metrics.js';

/** `/metrics` for Prometheus. */
export function metricsPage(metrics: Metrics): Router {
  const router = Router();
  router.get('/metrics', async (_request, response) => {
    response.type(metrics.contentType).send(await metrics.text());
  });
  return router;
}
