import type { Detail } from '../../platform/errors.js';
/**
 * Query parameters that are given but not declared: a filter that is misspelt must not answer the whole list. `key` is
 * everybody's, also where it is not needed.
 */
export declare function unknownParameters(declared: object, given: object): Detail[];
