import { describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { createCatalogue, readCatalogue } from '../../../src/shipments/states.js';

describe('the default state catalogue', () => {
  const catalogue = createCatalogue();
  const names = [...catalogue.names];
  const successors = (from: string) => names.filter((to) => catalogue.allows(from, to));

  test('has the states that the API documents', () => {
    expect([...names].sort()).toEqual(
      [
        'CREATED',
        'PICKED_UP',
        'IN_TRANSIT',
        'OUT_FOR_DELIVERY',
        'DELIVERED',
        'DELIVERY_FAILED',
        'RETURNING',
        'RETURNED',
        'CANCELLED',
        'LOST',
      ].sort(),
    );
  });

  test('leads from CREATED to DELIVERED directly', () => {
    const way = ['CREATED', 'PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERED'];
    for (const [index, state] of way.slice(1).entries())
      expect(catalogue.allows(way[index]!, state)).toBe(true);
  });

  test('a shipment begins as CREATED and never returns to it', () => {
    for (const name of names) {
      expect(catalogue.allows(null, name)).toBe(name === 'CREATED');
      expect(catalogue.allows(name, 'CREATED')).toBe(false);
    }
  });

  test('every state is reachable, and reaches a terminal state', () => {
    const reachable = (from: string): Set<string> => {
      const found = new Set([from]);
      for (const state of found) for (const next of successors(state)) found.add(next);
      return found;
    };
    expect(reachable('CREATED')).toEqual(new Set(names));
    for (const name of names)
      expect([...reachable(name)].some((state) => catalogue.isTerminal(state))).toBe(true);
  });

  test('a terminal state is final', () => {
    expect(names.filter((name) => catalogue.isTerminal(name)).sort()).toEqual([
      'CANCELLED',
      'DELIVERED',
      'LOST',
      'RETURNED',
    ]);
    for (const name of names) expect(successors(name).length === 0).toBe(catalogue.isTerminal(name));
  });

  test('unknown states are never allowed, not even names of object properties', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'toString')),
        fc.constantFrom(null, ...names),
        (unknown, known) => {
          fc.pre(!catalogue.names.has(unknown));
          expect(catalogue.allows(known, unknown)).toBe(false);
          expect(catalogue.allows(unknown, 'LOST')).toBe(false);
          expect(catalogue.isTerminal(unknown)).toBe(false);
        },
      ),
    );
  });
});

describe('a catalogue of the operator', () => {
  const withFile = <T>(content: string, use: (path: string) => T): T => {
    const folder = mkdtempSync(join(tmpdir(), 'parcelhook-states-'));
    const path = join(folder, 'states.json');
    writeFileSync(path, content);
    try {
      return use(path);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  test('replaces the default and allows exactly what it lists', () => {
    const name = fc.stringMatching(/^[A-Z][A-Z0-9_]{0,8}$/);
    const anyCatalogue = fc.uniqueArray(name, { minLength: 1, maxLength: 8 }).chain((names) =>
      fc.record({
        initial: fc.constantFrom(...names),
        states: fc.tuple(
          ...names.map((name) => fc.record({ name: fc.constant(name), next: fc.subarray(names) })),
        ),
      }),
    );
    fc.assert(
      fc.property(anyCatalogue, (file) => {
        for (const catalogue of [
          createCatalogue(file),
          withFile(JSON.stringify(file), (path) => readCatalogue(path)),
        ]) {
          expect(catalogue.initial).toBe(file.initial);
          expect([...catalogue.names]).toEqual(file.states.map((state) => state.name));
          expect(catalogue.next(null)).toEqual([file.initial]);
          for (const from of file.states) expect(catalogue.next(from.name)).toEqual(from.next);
          for (const from of file.states)
            for (const to of file.states)
              expect(catalogue.allows(from.name, to.name)).toBe(from.next.includes(to.name));
        }
      }),
      { numRuns: 30 },
    );
  });

  test.each([
    ['an initial state it lacks', { initial: 'B', states: [{ name: 'A', next: [] }] }, /B/],
    ['a change to a state it lacks', { initial: 'A', states: [{ name: 'A', next: ['C', 'D'] }] }, /C, D/],
    ['no states', { initial: 'A', states: [] }, /states/],
    [
      'a name that no webhook could ask for',
      { initial: 'a b', states: [{ name: 'a b', next: [] }] },
      /initial/,
    ],
  ])('with %s is refused with the reason', (_, file, reason) => {
    withFile(JSON.stringify(file), (path) => expect(() => readCatalogue(path)).toThrow(reason));
  });

  test('that is not JSON or does not exist is refused', () => {
    withFile('no JSON', (path) => expect(() => readCatalogue(path)).toThrow());
    expect(() => readCatalogue('/nowhere/states.json')).toThrow(/ENOENT/);
  });
});
