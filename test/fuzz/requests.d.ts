import fc from 'fast-check';
import type { OpenApiDocument, Operation } from '../../src/http/openapi/types.js';
type Fields = Record<string, unknown>;
/** A request to an operation before it is known what its ids are. */
export interface Draft {
    operationId: string;
    /** `valid`: as the document has it, so it must not be refused for its form. */
    kind: 'valid' | 'nearly' | 'hostile';
    method: string;
    path: string;
    security: Operation['security'];
    inPath: Fields;
    query: [string, unknown][];
    headers: Record<string, string>;
    type?: string;
    body?: unknown;
    /** Makes the bytes that are sent of the body's JSON. */
    bytes?: (text: string) => Buffer;
}
/** Requests to every operation of a document: a half of them valid, a quarter nearly so, a quarter hostile. */
export declare function requestsOf(document: OpenApiDocument): fc.Arbitrary<Draft>;
export {};
