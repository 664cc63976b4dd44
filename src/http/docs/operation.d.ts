import type { Method, OpenApiDocument, Operation } from '../openapi/types.js';
import { type Html } from './html.js';
type Components = OpenApiDocument['components'];
/** An endpoint: what it does and takes and answers beside a command and an example. */
export declare const operationSection: (method: Method, path: string, operation: Operation, components: Components) => Html;
/** What a receiver gets. */
export declare const webhookSection: (operation: Operation, components: OpenApiDocument['components']) => Html;
export {};
