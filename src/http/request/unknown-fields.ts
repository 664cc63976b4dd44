import type * as z from 'zod';
import type { Detail } from '../../platform/errors.js';
import { nearestName } from '../../platform/issues.js';

export interface UnknownField {
  path: string;
  nearest: string | null;
  meant: string | null;
  /** The fields that its object lacks: it may be meant to be one of them under another name. */
  absent: string[];
}

/** The unknown fields of a body: the first `maxNamed`, outer fields before nested ones, and how many more there are. */
export interface UnknownFields {
  named: UnknownField[];
  more: number;
}

export type FindUnknownFields = (body: unknown) => UnknownFields;

const maxNamed = 100;
const maxNameLength = 100;

/** A field holds the fields of an object, the elements of an array, or null for anything else. */
type Known = { fields: Map<string, Known> } | { element: Known } | null;

/** Reads the schema once; a body without unknown fields then costs one look-up for each of its fields. */
export function unknownFieldsOf(schema: z.ZodType): FindUnknownFields {
  const known = knownBy(schema as unknown as z.core.$ZodTypes);
  return (body) => {
    const found: UnknownFields = { named: [], more: 0 };
    if (known) search(body, known, '', found);
    return found;
  };
}

function knownBy({ _zod: { def } }: z.core.$ZodTypes): Known {
  switch (def.type) {
    case 'object': {
      const fields = Object.entries(def.shape as Record<string, z.core.$ZodTypes>);
      return { fields: new Map(fields.map(([name, field]) => [name, knownBy(field)])) };
    }
    case 'array':
      return { element: knownBy(def.element as z.core.$ZodTypes) };
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
      return knownBy(def.innerType as z.core.$ZodTypes);
    case 'pipe':
      return knownBy(def.in as z.core.$ZodTypes);
    default:
      return null;
  }
}

function search(value: unknown, known: NonNullable<Known>, path: string, found: UnknownFields): void {
  if (typeof value !== 'object' || value === null) return;
  if ('element' in known) {
    if (!known.element || !Array.isArray(value)) return;
    for (const [index, element] of value.entries())
      search(element, known.element, `${path}[${index}]`, found);
    return;
  }
  if (Array.isArray(value)) return;
  for (const name of Object.keys(value)) {
    if (known.fields.has(name)) continue;
    if (found.named.length < maxNamed) found.named.push(unknownField(name, value, known.fields, path));
    else found.more += 1;
  }
  for (const [name, beneath] of known.fields)
    if (beneath && Object.hasOwn(value, name))
      search((value as Record<string, unknown>)[name], beneath, joined(path, name), found);
}

const joined = (path: string, name: string) => (path ? `${path}.${name}` : name);

function unknownField(name: string, given: object, fields: Map<string, Known>, path: string): UnknownField {
  const names = [...fields.keys()];
  const absent = names.filter((field) => !Object.hasOwn(given, field));
  const nearest = nearestName(name, absent) ?? onlyWithFirstWord(name, absent) ?? nearestName(name, names);
  return {
    path: joined(path, name.slice(0, maxNameLength).toWellFormed()),
    nearest,
    meant: nearest === null ? null : joined(path, nearest),
    absent: absent.map((field) => joined(path, field)),
  };
}

const firstWord = (name: string) => /^[A-Za-z]?[a-z]+/.exec(name)?.[0].toLowerCase();

/** `targetURL` means `targetAddress` where no other field begins with `target`. */
function onlyWithFirstWord(name: string, names: string[]): string | null {
  const word = firstWord(name);
  const alike = word === undefined ? [] : names.filter((other) => firstWord(other) === word);
  return alike.length === 1 ? alike[0]! : null;
}

const did = ({ nearest }: UnknownField) => (nearest === null ? '' : `; did you mean ${nearest}?`);

/** The warnings of a success: what was ignored. */
export const warningsOf = ({ named, more }: UnknownFields): Detail[] => [
  ...named.map((field) => ({
    path: field.path,
    message: `is not a field of this request and was ignored${did(field)}`,
  })),
  ...(more > 0 ? [{ path: 'body', message: moreIgnored(more) }] : []),
];

const moreIgnored = (count: number) =>
  count === 1
    ? '1 more field is not a field of this request and was ignored'
    : `${count} more fields are not fields of this request and were ignored`;

/**
 * The details of a failure: the problems, and the unknown fields of objects that lack a field, since they may be meant to
 * be that one. If the body as a whole is wrong, such as one that needs at least one of its fields, those are named that
 * are like one.
 */
export function withMisspelt(details: Detail[], { named }: UnknownFields): Detail[] {
  const wrong = new Set(details.map(({ path }) => path));
  const misspelt = named.filter(
    ({ meant, absent }) =>
      absent.some((field) => wrong.has(field)) || (meant !== null && (wrong.has(meant) || wrong.has('body'))),
  );
  return [
    ...details,
    ...misspelt.map((field) => ({
      path: field.path,
      message: `is not a field of this request${did(field)}`,
    })),
  ];
}
