import type { OpenApiDocument } from '../../src/http/openapi/types.js';
export declare const typesFile: import("url").URL;
export declare const readTypes: () => string;
/** The client's types, as the API's document gives them. */
export declare function typesOf(document: OpenApiDocument): Promise<string>;
