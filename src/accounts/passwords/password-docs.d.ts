import { type SchemaCollector } from '../../http/openapi/schemas.js';
import type { Paths } from '../../http/openapi/types.js';
/** `/set-password`, the page behind a password link. */
export declare function passwordPaths(schemas: SchemaCollector): Paths;
