import type { Config } from './config.js';
import type { OpenApiDocument } from './http/openapi/types.js';
import type { Route } from './http/route.js';
/** The OpenAPI document of a process that serves the API: its routes, its pages and what receivers get. */
export declare const apiDocument: (config: Pick<Config, 'METRICS_PORT' | 'PUBLIC_URL'>, routes: Route[]) => OpenApiDocument;
