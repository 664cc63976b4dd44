import type { JsonSchema } from './types.js';
/** `components.schemas` that bodies refer to. Two levels are told; a schema that refers to itself breaks many tools. */
export declare const bodyComponents: Record<string, JsonSchema>;
/** Says in a body's schema what holds for every body (body.ts): also in fields that nobody knows. */
export declare function asBody(schema: JsonSchema): JsonSchema;
export declare const mapped: (schemas: Record<string, JsonSchema>) => Record<string, JsonSchema>;
