import { Router, type Request } from 'express';
import type { Metrics } from '../platform/metrics.js';
/** `/metrics` for Prometheus. */
export declare function metricsPage(metrics: Metrics, isAllowed: (request: Request) => boolean): Router;
