import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { beginPage, endPage, toldOf } from '../../src/deliveries/dispatch/lanes/backlog.js';
import { createLanes, type Lane, type Lanes } from '../../src/deliveries/dispatch/lanes/lanes.js';
import { createSlots, type Slot, type Slots } from '../../src/deliveries/dispatch/lanes/slots.js';
import { createWaitingRoom } from '../../src/deliveries/dispatch/lanes/waiting-room.js';
import type { Claim } from '../../src/deliveries/outbox/types.js';

const slowMs = 1_000;
const webhooks = ['a', 'b', 'c'];

/** An attempt that is under way; it holds no slot any more after it was found slow. */
interface Running {
  webhookId: string;
  slot: Slot | null;
}
interface Model {
  waiting: Map<string, number[]>;
  running: Running[];
  claims: number;
}
interface Real {
  lanes: Lanes;
  slots: Slots;
}
type Step = fc.Command<Model, Real>;

const kindOf = ({ slow, proven }: Lane): Slot => (slow ? 'slow' : proven ? 'proven' : 'unproven');

/** Half of all, or a few where half is less than that. */
const highest = (concurrency: number) => Math.max(Math.min(concurrency, 4), Math.ceil(concurrency / 2));
const claimOf = (number: number) => ({ number }) as Claim;

const step = (name: string, run: Step['run'], check = (_: Readonly<Model>) => true): Step => ({
  check,
  run,
  toString: () => name,
});

/** What the dispatcher does with lanes and slots, step by step; after each, all that may start has started. */
function stepsOf(size: number) {
  const webhookId = fc.constantFrom(...webhooks);

  const startAll = (model: Model, { lanes, slots }: Real) => {
    const wrong: object[] = [];
    for (let turn = slots.next(); turn; turn = slots.next()) {
      const { lane, slot } = turn;
      const { webhookId } = lane;
      const number = lane.waiting.shift()?.number;
      const expected = model.waiting.get(webhookId)!.shift(); // in turn, each once
      const rightSlot = slot === kindOf(lane);
      if (number === undefined || number !== expected || !rightSlot || lane.active >= highest(size))
        wrong.push({ webhookId, number, expected, slot, active: lane.active });
      lane.active += 1;
      model.running.push({ webhookId, slot });
    }
    const inUse = (kind: Slot) => model.running.filter(({ slot }) => slot === kind).length;
    const used = [inUse('proven') + inUse('unproven'), inUse('slow')] as const;
    const mostUnproven = size - Math.floor(size / 4);
    const freeFor = (lane: Lane) => {
      const left = size - used[lane.slow ? 1 : 0];
      return kindOf(lane) === 'unproven' ? Math.min(left, mostUnproven - inUse('unproven')) : left;
    };
    // Nothing waits without a reason: its lane is full, or there is no slot of the kind it needs.
    const forgotten = (lane: Lane) =>
      lane.waiting.length > 0 && lane.active < lane.limit && freeFor(lane) > 0;
    for (const lane of lanes.all())
      if (forgotten(lane) || slots.freeFor(lane) !== freeFor(lane)) wrong.push({ ...lane });
    if (Math.max(...used) > size || slots.inUse() !== used[0] + used[1]) wrong.push({ used });
    expect(wrong).toEqual([]);
  };
  const arrive = (id: string, count: number) =>
    step(`${count} arrive for ${id}`, (model, real) => {
      const lane = real.lanes.of(id);
      for (let n = 0; n < count; n += 1) {
        lane.waiting.push(claimOf((model.claims += 1)));
        model.waiting.set(id, [...(model.waiting.get(id) ?? []), model.claims]);
        real.slots.queue(lane);
      }
      startAll(model, real);
    });
  const end = (nth: number, durationMs: number | null) =>
    step(
      `the ${nth}th ends after ${durationMs}`,
      (model, real) => {
        const [ended] = model.running.splice(nth % model.running.length, 1);
        const lane = real.lanes.of(ended!.webhookId);
        if (ended!.slot) real.slots.give(ended!.slot);
        lane.active -= 1;
        real.lanes.adapt(lane, durationMs);
        if (lane.waiting.length > 0) real.slots.queue(lane);
        startAll(model, real);
      },
      ({ running }) => running.length > 0,
    );
  const slow = (nth: number) =>
    step(
      `the ${nth}th is found slow`,
      (model, real) => {
        const one = model.running[nth % model.running.length]!;
        const lane = real.lanes.of(one.webhookId);
        real.lanes.slowDown(lane);
        if (one.slot) real.slots.give(one.slot);
        one.slot = null;
        lane.waiting.splice(0); // given back
        model.waiting.set(one.webhookId, []);
        startAll(model, real);
      },
      ({ running }) => running.length > 0,
    );
  const durationMs = fc.constantFrom(null, 0, slowMs - 1, slowMs, 10 * slowMs);
  return fc.commands(
    [
      fc.tuple(webhookId, fc.integer({ min: 1, max: 30 })).map(([id, count]) => arrive(id, count)),
      fc.tuple(fc.nat(), durationMs).map(([nth, ms]) => end(nth, ms)),
      fc.tuple(fc.nat(), durationMs).map(([nth, ms]) => end(nth, ms)),
      fc.nat().map(slow),
    ],
    { maxCommands: 200, size: 'max' },
  );
}

/** How many attempts of this webhook may be under way now. */
const limitOf = (lanes: Lanes, webhookId: string): number => lanes.of(webhookId).limit;
const attempt = (lanes: Lanes, webhookId: string, durationMs: number | null) =>
  lanes.adapt(lanes.of(webhookId), durationMs);

describe('lanes', () => {
  test('whatever happens: a bound on what is under way, what waits starts once and in turn, and as soon as it may', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }).chain((size) => fc.tuple(fc.constant(size), stepsOf(size))),
        ([size, steps]) => {
          const model: Model = { waiting: new Map(), running: [], claims: 0 };
          const real = { lanes: createLanes(size, slowMs), slots: createSlots(size) };
          fc.modelRun(() => ({ model, real }), steps);
        },
      ),
      { numRuns: 150 },
    );
  });

  test('all that waits comes through by ending and starting alone, whatever the attempts take', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 300 }),
        fc.infiniteStream(fc.constantFrom(null, 1, 2 * slowMs)),
        (size, count, durations) => {
          const lanes = createLanes(size, slowMs);
          const slots = createSlots(size);
          const lane = lanes.of('a');
          for (let n = 0; n < count; n += 1) lane.waiting.push(claimOf(n));
          slots.queue(lane);
          const started: number[] = [];
          const underWay: Slot[] = [];
          for (;;) {
            for (let turn = slots.next(); turn; turn = slots.next()) {
              started.push(lane.waiting.shift()!.number);
              lane.active += 1;
              underWay.push(turn.slot);
            }
            const ended = underWay.pop();
            if (ended === undefined) break;
            slots.give(ended);
            lane.active -= 1;
            lanes.adapt(lane, durations.next().value as number | null);
            if (lane.waiting.length > 0) slots.queue(lane);
          }
          expect(started).toEqual(Array.from({ length: count }, (_, n) => n));
        },
      ),
    );
  });

  test('a quick attempt doubles what may be under way, up to half of all; a slow one sets it back to a tenth', () => {
    const lanes = createLanes(100, slowMs);
    const limits = [limitOf(lanes, 'a')];
    for (const durationMs of [1, 1, null, 1, 1, slowMs, slowMs, slowMs - 1]) {
      attempt(lanes, 'a', durationMs);
      limits.push(limitOf(lanes, 'a'));
    }
    expect(limits).toEqual([5, 10, 20, 20, 40, 50, 10, 10, 20]);
    expect(limitOf(lanes, 'b')).toBe(5);
  });

  test('one that is under way for long makes its lane slow before it ends, and a quick one ends that', () => {
    const lanes = createLanes(100, slowMs);
    for (let n = 0; n < 5; n += 1) attempt(lanes, 'a', 1);
    const lane = lanes.of('a');
    lanes.slowDown(lane);
    expect([lane.slow, lane.limit]).toEqual([true, 10]);
    attempt(lanes, 'a', null);
    expect(lane.slow).toBe(true);
    attempt(lanes, 'a', 1);
    expect([lane.slow, lane.limit]).toEqual([false, 20]);
  });

  test('a quick lane keeps three rounds of its attempts waiting, a slow one none, and both never more than that', () => {
    const lanes = createLanes(100, slowMs);
    const lane = lanes.of('a');
    expect([lanes.roomIn(lane), lanes.firstRoom]).toEqual([20, 20]);
    lane.active = 3;
    lane.reserved = 2;
    lane.waiting.push(claimOf(1), claimOf(2));
    expect(lanes.roomIn(lane)).toBe(13);
    lanes.slowDown(lane);
    expect(lanes.roomIn(lane)).toBe(3);
    lane.active = 30;
    expect(lanes.roomIn(lane)).toBe(0);
  });

  test('a shipper has the lanes that were noted for it, each once, for the first who noted it', () => {
    const lanes = createLanes(100, slowMs);
    for (const webhookId of ['a', 'b', 'a']) lanes.note(lanes.of(webhookId), 'shipper');
    lanes.note(lanes.of('a'), 'other');
    expect(lanes.ofShipper('shipper').map(({ webhookId }) => webhookId)).toEqual(['a', 'b']);
    expect(lanes.ofShipper('other')).toEqual([]);
  });

  test('forgetting idle lanes loses nothing that is under way, waits, is promised, asked for or left in PostgreSQL', () => {
    const lanes = createLanes(100, slowMs);
    const kept = ['active', 'reserved', 'waiting', 'mayBeDue', 'pulling'].map((name) => lanes.of(name));
    const [active, reserved, waiting, mayBeDue, pulling] = kept;
    active!.active = 1;
    reserved!.reserved = 1;
    waiting!.waiting.push(claimOf(1));
    toldOf(mayBeDue!.backlog, Infinity);
    beginPage(pulling!.backlog);
    lanes.note(lanes.of('idle-0'), 'shipper');
    lanes.note(active!, 'shipper');
    for (let n = 0; n < 9_990; n += 1) attempt(lanes, `idle-${n}`, 1);
    expect(limitOf(lanes, 'idle-0')).toBe(10);
    for (let n = 0; n < 30; n += 1) lanes.of(`new-${n}`).active = 1;
    expect(lanes.ofShipper('shipper')).toEqual([active]);
    expect(limitOf(lanes, 'idle-0')).toBe(5); // begins anew: it was forgotten
    for (const lane of kept) expect(lanes.of(lane.webhookId)).toBe(lane);
  });
});

test('what is left outside presses no longer once it has come in, also after ten thousand idle lanes were forgotten', () => {
  const lanes = createLanes(50, slowMs);
  const room = createWaitingRoom();
  for (let n = 0; n < 9_999; n += 1) lanes.of(`idle-${n}`);
  for (const webhookId of [...Array<string>(40).fill('a'), 'b']) room.leftOutside(lanes.of(webhookId));
  expect(room.pressure()).toBeGreaterThan(30);
  for (const webhookId of ['a', 'b'])
    endPage(lanes.of(webhookId).backlog, 1, { pulled: 0, lastDueMs: -Infinity, failed: false });
  expect(room.pressure()).toBe(0);
});
