import type { z } from 'zod';
import type { Route } from '../route.js';
import type { LinkObject } from './types.js';
/**
 * From an endpoint that makes or changes something to those that take its id: by what the answer says, or by what the
 * request's own path names.
 */
export declare function linksOf(route: Route, data: z.ZodObject, routes: Route[]): Record<string, LinkObject>;
