import type { JsonSchema } from '../openapi/types.js';
import { type Html } from './html.js';
type Components = Record<string, JsonSchema>;
interface Field {
    /** `package.weight`, `attempts[].number` */
    path: string;
    optional: boolean;
    schema: JsonSchema;
}
/** Where a component is shown. */
export declare const anchorOf: (name: string) => string;
/** The fields of an object as a table; objects within it that have no name of their own are part of it. */
export declare function fieldTable(schema: JsonSchema, components: Components): Html | undefined;
export declare const table: (fields: Field[]) => Html;
export {};
