import type { Route } from '../route.js';
import { type SchemaCollector } from './schemas.js';
import type { HeaderObject, Operation, Reference, ResponseObject } from './types.js';
/** `components.headers` */
export declare const headers: Record<string, HeaderObject>;
export declare const headerRefs: (names: string[]) => Record<string, Reference>;
/** `components.responses`: one for each failure. */
export declare function failureResponses(schemas: SchemaCollector): Record<string, ResponseObject>;
/** What an endpoint answers: success in the envelope, and the failures of its kind. */
export declare const responsesOf: (route: Route, routes: Route[], schemas: SchemaCollector) => Operation['responses'];
