import * as z from 'zod';
import { described } from '../described.js';

/** The end of the year 9999. */
const lastMomentMs = 253_402_300_799_999;
const day = z.regexes.date.source.slice(1, -1);
const hour = '(?:[01]\\d|2[0-3])';
// A + that was not percent-encoded arrives as a space.
const offset = `(?:Z|[+ -]${hour}:?[0-5]\\d)`;
const time = `T${hour}:[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,9})?)?${offset}`;
const form = new RegExp(`^(?:\\d{1,14}|${day}(?:${time})?)$`);
const problem = 'must be ISO 8601 with an offset such as 2026-11-21T12:00:00Z, or milliseconds since 1970';
const text = z.string().regex(form, problem);

/** A moment that a caller names; what is before 1970 or after the year 9999 counts as that. */
function toDate(given: string | number): Date {
  const isNumber = typeof given === 'number' || /^\d{1,14}$/.test(given);
  const ms = isNumber ? Number(given) : Date.parse(given.replace(' ', '+'));
  return new Date(Math.min(Math.max(ms, 0), lastMomentMs));
}

const words = (description: string) => `${description}: ISO 8601 with an offset, or milliseconds since 1970.`;

export const momentInQuery = (description: string) =>
  described(text, words(description), '2026-11-21T12:00:00Z').transform(toDate).optional();

export const momentInBody = (description: string, example: string) =>
  described(
    z.union([text, z.number().min(0).max(lastMomentMs)], problem),
    words(description),
    example,
  ).transform(toDate);
