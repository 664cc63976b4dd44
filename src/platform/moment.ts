import * as z from 'zod';

/** A day that exists: `2026-02-30` is none, and is not moved to March. */
export const dayForm = z.regexes.date.source.slice(1, -1);

const hour = '(?:[01]\\d|2[0-3])';

/**
 * RFC 3339 as widely as clients write it: any number of digits of a second, no seconds, `t` and `z`, and offsets like
 * `+0000` and `+00`. `signs` may begin an offset.
 */
export const momentForm = (signs = '+-') =>
  `${dayForm}[Tt]${hour}:[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?(?:[Zz]|[${signs}]${hour}(?::?[0-5]\\d)?)`;

const parts = /^(.{10}).(..:..)(:..(?:\.\d{1,3})?)?\d*(?:[Zz]|([+-]..):?(..)?)$/;

/** The form that most clients write, and that Date.parse takes. */
const usual = /^.{10}T.{8}(?:\.\d{1,3})?Z$/;

/** Epoch milliseconds of a text in `momentForm`. Date.parse takes the strict form only, or guesses. */
export function momentMs(text: string): number {
  if (usual.test(text)) return Date.parse(text);
  const [, day, minute, second = ':00', offset = '+00', minutes = '00'] = parts.exec(text)!;
  return Date.parse(`${day}T${minute}${second}${offset}:${minutes}`);
}
