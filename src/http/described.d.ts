import type { z } from 'zod';
/**
 * The schema with what the API's document says of it: a sentence, an example, more JSON Schema keywords. What it
 * takes stays the same. A schema that transforms is described before its transformation, for that is what callers
 * send.
 */
export declare const described: <Schema extends z.ZodType>(schema: Schema, description: string, example?: unknown, keywords?: Record<string, unknown>) => Schema;
