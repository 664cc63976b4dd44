import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createSlots } from '../../src/deliveries/slots.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('slots', () => {
  test('never more in use than there are, every request served in its turn, with no more than it asked for', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 30 }),
        fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 30 }),
        async (size, counts) => {
          const slots = createSlots(size);
          const served: number[] = [];
          let most = 0;
          await Promise.all(
            counts.map(async (atMost, index) => {
              const taken = await slots.take(atMost);
              served.push(index);
              most = Math.max(most, slots.inUse());
              expect(taken).toBeGreaterThanOrEqual(1);
              expect(taken).toBeLessThanOrEqual(Math.min(atMost, size));
              for (let given = 0; given < taken; given += 1) {
                await turn();
                slots.give(1);
              }
            }),
          );
          expect(served).toEqual(counts.map((_, index) => index));
          expect(most).toBeLessThanOrEqual(size);
          expect(slots.inUse()).toBe(0);
        },
      ),
      { numRuns: 50 },
    );
  });

  test('a request takes what is free at once, and waits for a tenth of all rather than for everything', async () => {
    const slots = createSlots(20);
    expect(await slots.take(15)).toBe(15);
    expect(await slots.take(50)).toBe(5);
    const served: number[] = [];
    void slots.take(50).then((taken) => served.push(taken));
    void slots.take(1).then((taken) => served.push(taken));
    slots.give(1);
    await turn();
    expect(served).toEqual([]);
    slots.give(1);
    await turn();
    expect(served).toEqual([2]);
    slots.give(1);
    await turn();
    expect(served).toEqual([2, 1]);
  });

  test('idle resolves at once when nothing is in use, else with the last one given back', async () => {
    const slots = createSlots(2);
    await slots.idle();
    await slots.take(2);
    let idle = false;
    void slots.idle().then(() => (idle = true));
    slots.give(1);
    await turn();
    expect(idle).toBe(false);
    slots.give(1);
    await turn();
    expect(idle).toBe(true);
  });
});
