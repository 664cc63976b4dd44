import type { OpenApiDocument } from '../openapi/types.js';
import { type Html } from './html.js';
/** Every failure, which the operations only name. */
export declare function failureSection({ components }: OpenApiDocument): Html;
/** Every named schema. */
export declare const schemaSection: ({ components: { schemas } }: OpenApiDocument) => Html;
