import type { Detail } from '../../platform/errors.js';

const maxNameLength = 100; // of a parameter in `details`

/**
 * Query parameters that are given but not declared: a filter that is misspelt must not answer the whole list. `key` is
 * everybody's, also where it is not needed.
 */
export function unknownParameters(declared: object, given: object): Detail[] {
  const known = ['key', ...Object.keys(declared)];
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => ({
      path: name.slice(0, maxNameLength).toWellFormed() || 'query',
      message: `is not a parameter of this endpoint; it takes ${known.join(', ')}`,
    }));
}
