import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { describeIssue } from '../platform/issues.js';
import defaults from './dropoff-defaults.json' with { type: 'json' };
import { dropoffLocation, type DropoffLocation } from './responses.js';

/** Locations for a first start; operators replace them with DROPOFF_FILE. */
export const defaultDropoffLocations: DropoffLocation[] = defaults;

const dropoffFile = z
  .array(dropoffLocation.extend({ administrativeArea: z.string(), country: z.string().length(2) }))
  .min(1, 'must list at least one location');

export function readDropoffLocations(path: string): DropoffLocation[] {
  const parsed = dropoffFile.safeParse(JSON.parse(readFileSync(path, 'utf8')), { error: describeIssue });
  if (parsed.success) return parsed.data;
  throw new Error(parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`).join('; '));
}

export type ChooseDropoff = (to: {
  country: string;
  administrativeArea: string;
  postalCode: string;
}) => DropoffLocation;

/**
 * Prefers the recipient's country, then the administrative area, then the longest shared prefix of the postal code. A
 * rule that no location satisfies is skipped.
 */
export function dropoffChooser(locations: DropoffLocation[]): ChooseDropoff {
  const places = locations.map((location) => ({
    location,
    country: folded(location.country),
    area: folded(location.administrativeArea),
  }));
  return (to) => {
    const country = folded(to.country);
    const area = folded(to.administrativeArea);
    const inCountry = preferred(places, (place) => place.country === country);
    const inArea = preferred(inCountry, (place) => place.area === area);
    const shared = ({ location }: { location: DropoffLocation }) =>
      sharedPrefix(location.zipCode, to.postalCode);
    return inArea.reduce((best, place) => (shared(place) > shared(best) ? place : best)).location;
  };
}

const preferred = <T>(all: T[], matches: (one: T) => boolean): T[] => {
  const some = all.filter(matches);
  return some.length > 0 ? some : all;
};

const folded = (text: string) =>
  text
    .normalize('NFD')
    .replace(/\p{Diacritic}/gu, '')
    .toLowerCase()
    .trim();

function sharedPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}
