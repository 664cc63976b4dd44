import { Router } from 'express';
import type { OpenApiDocument } from './openapi/types.js';
/**
 * `/openapi.json` and `/docs`, answered with an ETag. The page is made when it is first asked for: only then is it
 * known which address `baseUrl` has its commands use.
 */
export declare function documentPages(document: OpenApiDocument, baseUrl: () => string): Router;
