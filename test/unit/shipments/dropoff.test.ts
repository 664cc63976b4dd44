import { describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  dropoffChooser,
  readDropoffLocations,
  defaultDropoffLocations,
} from '../../../src/shipments/dropoff.js';
import type { DropoffLocation } from '../../../src/shipments/responses.js';

const place = (fields: Partial<DropoffLocation>): DropoffLocation => ({
  street: 'Street',
  administrativeArea: 'Jalisco',
  subAdministrativeArea: 'Guadalajara',
  country: 'MX',
  neighborhood: 'Centro',
  neighborhoodType: 'Colonia',
  zipCode: '45010',
  lat: 20,
  lng: -103,
  number: '1',
  intNumber: null,
  reference: '',
  observations: '',
  ...fields,
});

const countries = ['MX', 'US', 'BR'];
const areas = ['Jalisco', 'Puebla', 'Texas'];
const zipCode = fc.stringMatching(/^[0-4]{5}$/);
const places = fc.array(
  fc
    .record({
      country: fc.constantFrom(...countries),
      administrativeArea: fc.constantFrom(...areas),
      zipCode,
    })
    .map(place),
  { minLength: 1, maxLength: 12 },
);
const destination = fc.record({
  country: fc.constantFrom(...countries, 'DE'),
  administrativeArea: fc.constantFrom(...areas, 'Bayern'),
  postalCode: zipCode,
});
const shared = (a: string, b: string) => [...a].findIndex((char, i) => char !== b[i]) + 1 || a.length + 1;

describe('the drop-off location', () => {
  test('is in the same country, then the same area, then has the longest shared postal-code prefix', () => {
    fc.assert(
      fc.property(places, destination, (all, to) => {
        const chosen = dropoffChooser(all)(to);
        expect(all).toContain(chosen);
        const rank = (one: DropoffLocation) => [
          Number(one.country === to.country),
          Number(one.administrativeArea === to.administrativeArea),
          shared(one.zipCode, to.postalCode),
        ];
        const better = (a: number[], b: number[]) => {
          const difference = a.findIndex((value, i) => value !== b[i]);
          return difference >= 0 && a[difference]! > b[difference]!;
        };
        for (const other of all) expect(better(rank(other), rank(chosen))).toBe(false);
      }),
    );
  });

  test('is the same for the same order, whatever other orders come between', () => {
    fc.assert(
      fc.property(places, destination, destination, (all, to, other) => {
        const first = dropoffChooser(all)(to);
        dropoffChooser(all)(other);
        expect(dropoffChooser(all)(to)).toBe(first);
      }),
    );
  });

  test('matches areas ignoring case, accents and surrounding space', () => {
    const far = place({ administrativeArea: 'Puebla', zipCode: '97000' });
    const near = place({ administrativeArea: 'Yucatán', zipCode: '00000' });
    for (const administrativeArea of ['yucatan', 'YUCATÁN', ' Yucatán '])
      expect(dropoffChooser([far, near])({ country: 'mx', administrativeArea, postalCode: '97000' })).toBe(
        near,
      );
  });
});

describe('the list of drop-off locations', () => {
  test('has a usable default', () => {
    const all = defaultDropoffLocations;
    expect(all.length).toBeGreaterThan(3);
    for (const one of all) {
      expect(one.country).toMatch(/^[A-Z]{2}$/);
      expect(Math.abs(one.lat)).toBeLessThanOrEqual(90);
      expect(Math.abs(one.lng)).toBeLessThanOrEqual(180);
      for (const text of [one.street, one.administrativeArea, one.zipCode, one.number])
        expect(text).toMatch(/\S/);
      const to = {
        country: one.country,
        administrativeArea: one.administrativeArea,
        postalCode: one.zipCode,
      };
      expect(dropoffChooser(all)(to).zipCode).toBe(one.zipCode);
    }
  });

  test('of the operator replaces the default; an invalid one is refused naming every wrong field', () => {
    const folder = mkdtempSync(join(tmpdir(), 'parcelhook-dropoff-'));
    const path = join(folder, 'dropoff.json');
    const load = (content: unknown) => {
      writeFileSync(path, JSON.stringify(content));
      return readDropoffLocations(path);
    };
    try {
      const own = [place({ street: 'Own street' })];
      expect(load(own)).toEqual(own);
      expect(() => load([])).toThrow(/at least one location/);
      expect(() => load([{ ...place({}), country: 'Mexico', lat: '20' }])).toThrow(/0\.country.*0\.lat/);
      expect(() => readDropoffLocations(join(folder, 'missing.json'))).toThrow(/ENOENT/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
