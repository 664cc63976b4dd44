import type { Content, JsonSchema, Operation } from '../openapi/types.js';
import { type Html } from './html.js';
/** What stands beside each other: words and code. */
export declare const section: ({ operationId, summary }: Operation, endpoint: Html, parts: Html[]) => Html;
export declare const code: (text: string) => Html;
export declare const json: (value: unknown) => Html;
export declare const statusBadge: (httpStatus: string) => Html;
export declare function parameters({ parameters: all }: Operation, title: string): Html | undefined;
export declare const jsonOf: (content: Content | undefined) => {
    schema: JsonSchema;
    example?: unknown;
} | undefined;
export declare function body({ requestBody }: Operation, { schemas }: {
    schemas: Record<string, JsonSchema>;
}): Html | undefined;
