import { type ValidateFunction } from 'ajv/dist/2020.js';
import type { OpenApiDocument, Operation } from '../../src/http/openapi/types.js';
import type { Answer } from '../client.js';
import type { Received } from '../receiver.js';
export interface Described {
    method: string;
    /** As in the document: `/v1/webhooks/{webhookId}`. */
    path: string;
    operation: Operation;
}
/** Every operation of the document by its id. */
export declare const operationsOf: (document: OpenApiDocument) => Map<string, Described>;
/** Compiles schemas of the document by their JSON pointer. */
export declare function schemaCompiler(document: object): (...pointer: string[]) => ValidateFunction;
/** Throws with what is wrong where `value` is not of the schema. */
export declare function expectValid(validate: ValidateFunction, value: unknown, what: string): void;
/** Holds real answers to the document and remembers which were seen. */
export declare function answerChecker(document: OpenApiDocument): {
    operations: Map<string, Described>;
    seen: Set<string>;
    check: (operationId: string, answer: Answer) => void;
    checkShared: (name: string, body: unknown) => void;
    checkReceived: (name: string, { method, headers, notification }: Received) => void;
};
