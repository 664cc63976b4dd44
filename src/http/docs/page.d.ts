import type { OpenApiDocument } from '../openapi/types.js';
/**
 * The document as one page that loads nothing and runs no script; the policy allows its style and nothing else.
 * `baseUrl` is where its commands send requests.
 */
export declare function renderDocs(document: OpenApiDocument, baseUrl: string): {
    page: string;
    contentSecurityPolicy: string;
};
