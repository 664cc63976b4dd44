import type * as z from 'zod';

/**
 * Words zod's issues the way a sentence after a field's name goes: `must be at least 0`. Used as its global error map
 * and where variables are read, so that none of its own sentences reaches a reader.
 */
export function describeIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? `is required: ${aKind(issue)}`
        : `must be ${aKind(issue)}${signsHint(issue)}`;
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

export function oneOf(values: string[], given: unknown): string {
  if (given === undefined) return `is required: one of ${values.join(', ')}`;
  const meant = typeof given === 'string' ? nearestName(given, values) : null;
  const hint = meant === null ? '' : `; did you mean ${meant}?`;
  return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(', ')}${hint}`;
}

/** JSON has 7, "7" and ["7"], and most who send the wrong one meant another. */
function signsHint({ expected, input }: { expected: string; input?: unknown }): string {
  if (expected === 'array') return typeof input === 'string' ? '; put it in square brackets' : '';
  if (expected === 'string') return typeof input === 'number' ? '; put it in quotation marks' : '';
  if (typeof input !== 'string') return ''; // the toString of an object may be no function
  const isNumber = (expected === 'number' || expected === 'int') && /^\s*-?\d+(?:\.\d+)?\s*$/.test(input);
  const isTruth = expected === 'boolean' && /^(?:true|false)$/.test(input);
  return isNumber || isTruth ? '; leave out the quotation marks' : '';
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

/** Longer names are nobody's typing mistake. */
const maxLength = 100;

/**
 * The known name that `given` was probably meant to be: the same but for case, `_` and `-`, or at most `letters` away.
 * The default is two, or one where either has at most four. Null if there is none.
 */
export function nearestName(given: string, known: Iterable<string>, letters?: number): string | null {
  if (given.length > maxLength) return null;
  const wanted = folded(given);
  let nearest: string | null = null;
  let least = Infinity;
  for (const name of known) {
    const other = folded(name);
    const distance = lettersApart(wanted, other);
    const allowed = letters ?? (Math.min(wanted.length, other.length) <= 4 ? 1 : 2);
    // Beyond that, or with no letter in common, it is another name.
    if (distance >= least || distance > allowed || distance === Math.max(wanted.length, other.length))
      continue;
    nearest = name;
    least = distance;
  }
  return nearest;
}

const folded = (name: string) => name.toLowerCase().replace(/[_-]/g, '');

/** Damerau-Levenshtein with adjacent letters: insertions, deletions, substitutions and swaps. From 3 on not exact. */
function lettersApart(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        last[column]! + 1,
        current[column - 1]! + 1,
        last[column - 1]! + (isSame ? 0 : 1),
        isSwapped ? beforeLast[column - 2]! + 1 : Infinity,
      );
    }
    if (Math.min(...current) > 2) return 3;
    [beforeLast, last] = [last, current];
  }
  return last[b.length]!;
}
