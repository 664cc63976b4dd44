import { z } from 'zod';
import type { JsonSchema } from './types.js';
export interface SchemaCollector {
    /** `components.schemas`: every schema met so far that has an id. */
    components: Record<string, JsonSchema>;
    /**
     * The schema in JSON Schema: of a parameter, of a body that callers send, or of what they get. Schemas with an id are
     * referred to.
     */
    toJson(schema: z.ZodType, io: 'input' | 'body' | 'output'): JsonSchema;
}
/** Turns zod schemas into the document's. */
export declare function createSchemaCollector(): SchemaCollector;
/** What a reference stands for, with what the reference itself says. */
export declare function resolved(schema: JsonSchema, components: Record<string, JsonSchema>): JsonSchema;
/** The last part of a reference: the component's name. */
export declare const nameOf: (ref: string) => string;
/** An example made of the examples of its parts; undefined where a part has none. */
export declare function exampleOf(schema: JsonSchema, components: Record<string, JsonSchema>): unknown;
