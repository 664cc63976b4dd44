import type { z } from 'zod';
import type { Route } from '../route.js';
import { type SchemaCollector } from './schemas.js';
import type { Operation, Parameter } from './types.js';
/** An endpoint as the document describes it. */
export declare function operationOf(route: Route, routes: Route[], schemas: SchemaCollector): Operation;
/** One parameter for each field; what the field's schema says of it goes to the parameter. */
export declare function parametersOf(fields: z.ZodObject, place: Parameter['in'], schemas: SchemaCollector): Parameter[];
