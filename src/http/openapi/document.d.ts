import type { Route } from '../route.js';
import { type SchemaCollector } from './schemas.js';
import type { OpenApiDocument, Paths } from './types.js';
export interface DocumentOptions {
    routes: Route[];
    /** Paths outside the table of routes. */
    pages(schemas: SchemaCollector): Paths;
    /** What is sent to receivers. */
    webhooks(schemas: SchemaCollector): Paths;
    /** Base URL of the service; `/` is the host that serves the document. */
    serverUrl: string;
}
/** The OpenAPI 3.1 document of what this process serves. */
export declare function createDocument({ routes, pages, webhooks, serverUrl }: DocumentOptions): OpenApiDocument;
