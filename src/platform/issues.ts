import type * as z from 'zod';
import { nearestName } from './nearest.js';

/**
 * Words zod's issues the way a sentence after a field's name goes: `must be at least 0`. Used as its global error map
 * and where variables are read, so that none of its own sentences reaches a reader.
 */
export function describeIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? `is required: ${aKind(issue)}` : `must be ${aKind(issue)}`;
    case 'too_small':
      return bound(issue, issue.inclusive === false ? 'greater than' : 'at least', issue.minimum);
    case 'too_big':
      return bound(issue, issue.inclusive === false ? 'less than' : 'at most', issue.maximum);
    case 'invalid_value':
      return oneOf(issue.values.map(String), issue.input);
    case 'invalid_format':
      return `must be ${formats[issue.format] ?? 'in the documented form'}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return `has unknown fields: ${issue.keys.join(', ')}`;
    case 'invalid_union':
      return issue.input === undefined ? 'is required' : 'must have one of the documented forms';
    default:
      return 'is not valid';
  }
}

/** `must be one of A, B`, with the nearest of them to what was given. */
export function oneOf(values: string[], given: unknown): string {
  if (given === undefined) return `is required: one of ${values.join(', ')}`;
  const meant = typeof given === 'string' ? nearestName(given, values) : null;
  const hint = meant === null ? '' : `; did you mean ${meant}?`;
  return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(', ')}${hint}`;
}

const kinds: Record<string, string> = {
  int: 'a whole number',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  boolean: 'true or false',
};
const aKind = ({ expected }: { expected: string }) => kinds[expected] ?? `a ${expected}`;

const formats: Record<string, string> = {
  uuid: 'a UUID',
  email: 'an e-mail address',
  url: 'a URL',
  datetime: 'a time in ISO 8601 with an offset, such as 2026-11-21T12:00:00Z',
};

const units: Record<string, string> = { string: 'characters', array: 'items', set: 'items' };

function bound(
  { origin, exact }: { origin: string; exact?: boolean },
  words: string,
  limit: number | bigint,
): string {
  const unit = units[origin];
  if (unit === undefined) return `must be ${words} ${limit}`;
  return `must have ${exact ? 'exactly' : words} ${limit} ${limit === 1 ? unit.slice(0, -1) : unit}`;
}
