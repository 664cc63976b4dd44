import { type SchemaCollector } from './schemas.js';
import type { Content, Paths, ResponseObject } from './types.js';
/** A page's answer: not in the envelope. */
export declare const pageAnswer: (description: string, content?: Content) => ResponseObject;
export declare const text: (type: string) => Content;
/** `/healthz` and `/readyz` */
export declare function healthPaths(schemas: SchemaCollector): Paths;
/** `/metrics`, where it is served on this port. */
export declare const metricsPaths: Paths;
/** The document itself. */
export declare const documentPaths: Paths;
