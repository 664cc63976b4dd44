import fc from 'fast-check';
import type { JsonSchema } from '../../src/http/openapi/types.js';
export type Components = Record<string, JsonSchema>;
/** Fields that are named in answers: ids, and cursors. */
export declare const isNamed: (name: string) => boolean;
/** Replaces what earlier answers may have named, in a whole body. */
export declare function settle(value: unknown, lookUp: (name: string, pick: number) => unknown): unknown;
/** A field of that name: mostly one that is known, where answers name such. */
export declare function fieldOf(name: string, schema: JsonSchema, components: Components): fc.Arbitrary<unknown>;
/** Values that the document allows. */
export declare function valueOf(schema: JsonSchema, components: Components): fc.Arbitrary<unknown>;
