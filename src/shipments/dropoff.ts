import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { defaultDropoffLocations } from './dropoff-defaults.js';
import type { DropoffLocation } from './order.js';

const dropoffFile = z
  .array(
    z.object({
      street: z.string(),
      administrativeArea: z.string(),
      subAdministrativeArea: z.string(),
      country: z.string().length(2),
      neighborhood: z.string(),
      neighborhoodType: z.string(),
      zipCode: z.string(),
      lat: z.number(),
      lng: z.number(),
      number: z.string(),
      intNumber: z.string().nullable(),
      reference: z.string(),
      observations: z.string(),
    }),
  )
  .min(1, 'must list at least one location');

/** Reads DROPOFF_FILE, or takes the default set. Throws an Error that names every wrong field. */
export function loadDropoffLocations(path: string | undefined): DropoffLocation[] {
  if (path === undefined) return defaultDropoffLocations;
  const parsed = dropoffFile.safeParse(JSON.parse(readFileSync(path, 'utf8')));
  if (parsed.success) return parsed.data;
  throw new Error(parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`).join('; '));
}

/**
 * The location a parcel is handed in at: of the recipient's country, then of the same administrative area, then
 * with the longest shared postal-code prefix (contract, section 3). A rule nothing satisfies is passed over.
 */
export function chooseDropoff(
  locations: DropoffLocation[],
  to: { country: string; administrativeArea: string; postalCode: string },
): DropoffLocation {
  const inCountry = preferred(locations, (place) => same(place.country, to.country));
  const inArea = preferred(inCountry, (place) => same(place.administrativeArea, to.administrativeArea));
  return inArea.reduce((best, place) =>
    sharedPrefix(place.zipCode, to.postalCode) > sharedPrefix(best.zipCode, to.postalCode) ? place : best,
  );
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
const same = (a: string, b: string) => folded(a) === folded(b);

function sharedPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}
