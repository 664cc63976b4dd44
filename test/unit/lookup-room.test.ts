import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createSemaphore } from '../../src/deliveries/send/names/semaphore.js';

interface Step {
  party: string;
  what: 'ask' | 'done' | 'withdraw';
}

const steps = fc.array(
  fc.record({
    party: fc.constantFrom('a', 'b', 'c', 'd'),
    what: fc.constantFrom<Step['what'][]>('ask', 'ask', 'done', 'withdraw'),
  }),
  { maxLength: 60 },
);

describe('room for lookups', () => {
  test('is never exceeded, in all or by one party, nor left free while somebody may have it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 3 }),
        steps,
        (most, ofOne, taken) => {
          const room = createSemaphore(most, ofOne);
          const running: { party: string; done: () => void }[] = [];
          const waiting: { party: string; withdraw: () => void }[] = [];
          for (const { party, what } of taken) {
            if (what === 'ask') ask(party);
            else if (what === 'done') end(party);
            else waiting.splice(waiting.findIndex((one) => one.party === party) >>> 0, 1)[0]?.withdraw();
            const of = (name: string) => running.filter((one) => one.party === name).length;
            expect(running.length).toBeLessThanOrEqual(most);
            for (const name of ['a', 'b', 'c', 'd']) expect(of(name)).toBeLessThanOrEqual(ofOne);
            const mayBegin = waiting.filter((one) => of(one.party) < ofOne);
            expect(running.length === most || mayBegin.length === 0).toBe(true);
          }

          function ask(party: string) {
            const entry = { party, withdraw: () => {} };
            waiting.push(entry);
            entry.withdraw = room.ask(party, (done) => {
              waiting.splice(waiting.indexOf(entry), 1);
              running.push({ party, done });
            });
          }

          function end(party: string) {
            const index = running.findIndex((one) => one.party === party);
            if (index < 0) return;
            const [{ done }] = running.splice(index, 1) as [(typeof running)[number]];
            done();
            done(); // a second time gives nothing back
          }
        },
      ),
    );
  });

  test('parties take turns: one who comes after a crowd is next', () => {
    const room = createSemaphore(1, 1);
    const order: string[] = [];
    let end = () => {};
    const ask = (party: string, name: string) =>
      void room.ask(party, (done) => {
        order.push(name);
        end = done;
      });
    for (let n = 1; n <= 4; n += 1) ask('crowd', `crowd ${n}`);
    ask('late', 'late');
    for (let n = 0; n < 5; n += 1) end();
    expect(order).toEqual(['crowd 1', 'late', 'crowd 2', 'crowd 3', 'crowd 4']);
  });
});
