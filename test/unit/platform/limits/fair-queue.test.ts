import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createFairQueue } from '../../../../src/platform/limits/fair-queue.js';

const kinds = 4;
const keys = ['a', 'b', 'c', 'd', 'e'];
const item = fc.record({ kind: fc.nat({ max: kinds - 1 }), key: fc.constantFrom(...keys) });
const steps = fc.array(fc.option(item), { maxLength: 200 });

describe('keys alternate', () => {
  const plainSteps = fc.array(
    fc.oneof(
      fc.record({ what: fc.constant('add'), key: fc.constantFrom(...keys) }),
      fc.record({ what: fc.constant('delete'), key: fc.constantFrom(...keys) }),
      fc.record({ what: fc.constant('take'), key: fc.constant('') }),
    ),
    { maxLength: 150 },
  );

  test('at most one item of each other key goes before a waiting key, and its own items leave in order', () => {
    fc.assert(
      fc.property(plainSteps, (all) => {
        const queue = createFairQueue<{ key: string; n: number }>();
        const waiting = new Map<string, { key: string; n: number }[]>(keys.map((key) => [key, []]));
        const passedBy = new Map<string, string[]>(keys.map((key) => [key, []]));
        const take = () => {
          const taken = queue.take();
          if (!taken) return expect([...waiting.values()].flat()).toEqual([]);
          expect(taken).toBe(waiting.get(taken.key)!.shift());
          passedBy.set(taken.key, []);
          for (const [key, others] of passedBy)
            if (waiting.get(key)!.length > 0 && key !== taken.key) {
              others.push(taken.key);
              expect(new Set(others).size).toBe(others.length);
            }
        };
        for (const [n, { what, key }] of all.entries()) {
          if (what === 'take') take();
          else if (what === 'add') {
            const one = { key, n };
            waiting.get(key)!.push(one);
            queue.add(key, one);
            queue.add(key, one); // waits once
          } else {
            const gone = waiting.get(key)!.pop();
            if (gone) queue.delete(key, gone);
            if (waiting.get(key)!.length === 0) passedBy.set(key, []);
          }
          expect(queue.size()).toBe([...waiting.values()].flat().length);
          for (const one of keys) expect(queue.items(one)).toEqual(waiting.get(one));
        }
        while (queue.size() > 0) take();
      }),
    );
  });

  test('a key that may not be taken from keeps its place and does not delay the others', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...keys), { maxLength: 50 }), fc.subarray(keys), (added, open) => {
        const queue = createFairQueue<number>();
        for (const [n, key] of added.entries()) queue.add(key, n);
        const mayTake = (key: string) => open.includes(key);
        const taken = added.filter(mayTake).map(() => queue.take(mayTake));
        expect(queue.take(mayTake)).toBeUndefined();
        expect(taken.toSorted()).toEqual(added.flatMap((key, n) => (mayTake(key) ? [n] : [])).toSorted());
        const closed = added.findIndex((key) => !mayTake(key));
        expect(queue.take()).toBe(closed < 0 ? undefined : closed);
      }),
    );
  });
});

describe('the bound', () => {
  test('holds for each kind, and the newest item of the longest queue is dropped', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), steps, (maxItems, all) => {
        const queue = createFairQueue<object>({ kinds: 2, maxItems });
        const waiting = [new Map<string, object[]>(), new Map<string, object[]>()];
        const gone = (one: object) => {
          for (const ofKind of waiting)
            for (const [key, items] of ofKind)
              ofKind.set(
                key,
                items.filter((other) => other !== one),
              );
        };
        for (const step of all) {
          if (!step) {
            const taken = queue.take();
            if (taken) gone(taken);
            continue;
          }
          const one = { ...step };
          const kind = step.kind % 2;
          const ofKind = waiting[kind]!;
          ofKind.set(step.key, [...(ofKind.get(step.key) ?? []), one]);
          const dropped = queue.add(step.key, one, kind);
          const sizes = [...ofKind.values()].map(({ length }) => length);
          const isOneTooMany = sizes.reduce((a, b) => a + b, 0) > maxItems;
          expect(dropped !== undefined).toBe(isOneTooMany);
          if (!dropped) continue;
          const longest = [...ofKind.values()].find((items) => items.at(-1) === dropped.item)!;
          expect(longest).toHaveLength(Math.max(...sizes));
          expect(dropped.left).toBe(longest.length - 1);
          if (ofKind.get(step.key)!.length === longest.length) expect(dropped.item).toBe(one);
          gone(dropped.item);
        }
        expect(new Set(queue.items())).toEqual(
          new Set(waiting.flatMap((ofKind) => [...ofKind.values()].flat())),
        );
      }),
    );
  });
});

describe('kinds', () => {
  test('everything is served, and a waiting first kind gets `lead` of any `lead` + 1 takes', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 4 }), (all, lead) => {
        const queue = createFairQueue<{ kind: number }>({ kinds, lead });
        const waiting = Array<number>(kinds).fill(0);
        const ofFirst: boolean[] = []; // one per take since the first kind began to wait without a break
        const take = () => {
          const firstWaits = waiting[0]! > 0;
          const taken = queue.take();
          expect(taken === undefined).toBe(waiting.every((count) => count === 0));
          if (taken) waiting[taken.kind]! -= 1;
          if (firstWaits) ofFirst.push(taken?.kind === 0);
          else ofFirst.length = 0;
          const last = ofFirst.slice(-lead - 1);
          if (last.length > lead) expect(last.filter(Boolean).length).toBeGreaterThanOrEqual(lead);
        };
        for (const step of all) {
          if (!step) take();
          else {
            queue.add(step.key, step, step.kind);
            waiting[step.kind]! += 1;
          }
        }
        for (let left = waiting.reduce((sum, n) => sum + n, 0); left > 0; left -= 1) take();
        expect(queue.take()).toBeUndefined();
      }),
    );
  });

  test('two kinds with a lead of one alternate while both have items; while one is empty, every take is of the other', () => {
    fc.assert(
      fc.property(fc.nat({ max: 30 }), fc.nat({ max: 30 }), (first, second) => {
        const queue = createFairQueue<string>({ kinds: 2, lead: 1 });
        for (let n = 0; n < first; n += 1) queue.add('a', `0 ${n}`, 0);
        for (let n = 0; n < second; n += 1) queue.add('a', `1 ${n}`, 1);
        const order = Array.from({ length: first + second }, () => queue.take()!.split(' ')[0]);
        const both = 2 * Math.min(first, second);
        expect(order.slice(0, both).join('')).toBe('01'.repeat(both / 2));
        expect(new Set(order.slice(both)).size).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('a new item waits for one item of each other key of its kind, and for the takes of later kinds', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const queue = createFairQueue<string>({ kinds });
        for (const [n, step] of all.entries()) {
          if (step) queue.add(step.key, String(n), step.kind);
          else queue.take();
        }
        queue.add('late', 'late', 0);
        let takes = 1;
        while (queue.take() !== 'late') takes += 1;
        expect(takes).toBeLessThanOrEqual(6 + 2); // five others and itself; of eight takes, two go to later kinds
      }),
    );
  });
});
