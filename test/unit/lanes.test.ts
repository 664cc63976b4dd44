import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLanes, slowMs, type Lanes } from '../../src/deliveries/lanes.js';

/** What a lane is known to hold; its limit is the lane's own business. */
interface KnownLane {
  active: number;
  waiting: string[];
  turnedAway: boolean;
}
type Model = Map<string, KnownLane>;
type Step = fc.Command<Model, Lanes>;

/** Half of all, or a few where half is less than that. */
const highest = (concurrency: number) => Math.max(Math.min(concurrency, 4), Math.ceil(concurrency / 2));

const webhooks = ['a', 'b', 'c'];
const laneOf = (model: Model, webhookId: string): KnownLane => {
  const lane = model.get(webhookId) ?? { active: 0, waiting: [], turnedAway: false };
  model.set(webhookId, lane);
  return lane;
};
const step = (name: string, run: (model: Model, lanes: Lanes) => void, check = (_: Model) => true): Step => ({
  check,
  run,
  toString: () => name,
});

const stepsOf = (concurrency: number) => {
  const webhookId = fc.constantFrom(...webhooks);
  const admit = (lane: KnownLane, ids: string[]) => {
    lane.active += ids.length;
    expect(lane.active).toBeLessThanOrEqual(highest(concurrency));
  };
  const enter = (id: string) =>
    step(`enter ${id}`, (model, lanes) => {
      const lane = laneOf(model, id);
      if (lanes.enter(id)) admit(lane, ['one']);
      else expect(lane.active).toBeGreaterThan(0); // an idle lane has room
    });
  const wait = (id: string, n: number) =>
    step(`wait ${id} ${n}`, (model, lanes) => {
      const lane = laneOf(model, id);
      const deliveryId = `${id}${n}`;
      expect(lanes.wait(id, deliveryId)).toBe(true);
      if (!lane.waiting.includes(deliveryId)) lane.waiting.push(deliveryId);
    });
  const leave = (id: string, durationMs: number | null) =>
    step(
      `leave ${id} ${durationMs}`,
      (model, lanes) => {
        lanes.leave(id, durationMs);
        laneOf(model, id).active -= 1;
      },
      (model) => laneOf(model, id).active > 0,
    );
  const admitWaiting = (id: string) =>
    step(`admit ${id}`, (model, lanes) => {
      const lane = laneOf(model, id);
      const wasIdle = lane.active === 0;
      const admitted = lanes.admitWaiting(id);
      expect(admitted).toEqual(lane.waiting.splice(0, admitted.length)); // in turn, each once
      if (wasIdle && lane.waiting.length > 0) expect(admitted.length).toBeGreaterThan(0);
      admit(lane, admitted);
    });
  const wantsMore = (id: string) =>
    step(`wants more ${id}`, (model, lanes) => {
      const lane = laneOf(model, id);
      const expected = lane.turnedAway && lane.waiting.length === 0;
      expect(lanes.wantsMore(id)).toBe(expected);
      if (expected) lane.turnedAway = false;
    });
  const expectMore = (id: string) =>
    step(`expect more ${id}`, (model, lanes) => {
      lanes.expectMore(id);
      laneOf(model, id).turnedAway = true;
    });
  const hasRoom = (id: string) =>
    step(`has room ${id}`, (model, lanes) => {
      const lane = laneOf(model, id);
      const has = lanes.hasRoom(id);
      if (lane.waiting.length > 0) expect(has).toBe(false);
      else {
        expect(lanes.enter(id)).toBe(has);
        if (has) admit(lane, ['one']);
      }
    });
  const markSlow = (id: string) =>
    step(`slow ${id}`, (_, lanes) => {
      lanes.markSlow(id);
      expect(lanes.isSlow(id)).toBe(true);
    });
  const empty = step('empty', (model, lanes) => {
    const expected = [...model].flatMap(([id, { waiting }]) =>
      waiting.splice(0).map((deliveryId) => ({ webhookId: id, deliveryId })),
    );
    const emptied = lanes.emptyWaiting();
    expect(emptied).toHaveLength(expected.length);
    expect(emptied).toEqual(expect.arrayContaining(expected));
  });
  const durationMs = fc.constantFrom(null, 0, slowMs - 1, slowMs, 10 * slowMs);
  return fc.commands(
    [
      webhookId.map(enter),
      fc.tuple(webhookId, fc.nat(60)).map(([id, n]) => wait(id, n)),
      fc.tuple(webhookId, durationMs).map(([id, ms]) => leave(id, ms)),
      webhookId.map(admitWaiting),
      webhookId.map(wantsMore),
      webhookId.map(expectMore),
      webhookId.map(hasRoom),
      webhookId.map(markSlow),
      fc.constant(empty),
    ],
    { maxCommands: 200, size: 'max' },
  );
};

/** How many attempts of this webhook may be under way now. */
function limitOf(lanes: Lanes, webhookId: string): number {
  let entered = 0;
  while (lanes.enter(webhookId)) entered += 1;
  for (let left = 0; left < entered; left += 1) lanes.leave(webhookId, null);
  return entered;
}
const attempt = (lanes: Lanes, webhookId: string, durationMs: number | null) => {
  expect(lanes.enter(webhookId)).toBe(true);
  lanes.leave(webhookId, durationMs);
};

describe('lanes', () => {
  test('whatever happens: a bound on what is under way, what waits is admitted once and in turn, an idle lane takes somebody, more is wanted once', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }).chain((size) => fc.tuple(fc.constant(size), stepsOf(size))),
        ([concurrency, steps]) => {
          fc.modelRun(() => ({ model: new Map() as Model, real: createLanes(concurrency) }), steps);
        },
      ),
      { numRuns: 150 },
    );
  });

  test('all that waits comes through by leaving and admitting alone, whatever the attempts take', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 300 }),
        fc.infiniteStream(fc.constantFrom(null, 1, 2 * slowMs)),
        (concurrency, count, durations) => {
          const lanes = createLanes(concurrency);
          const ids = Array.from({ length: count }, (_, n) => `d${n}`);
          const underWay = ids.filter((id) => lanes.enter('a') || (lanes.wait('a', id), false));
          const admitted: string[] = [...underWay];
          while (underWay.length > 0) {
            underWay.pop();
            lanes.leave('a', durations.next().value as number | null);
            const next = lanes.admitWaiting('a');
            underWay.push(...next);
            admitted.push(...next);
          }
          expect(admitted).toEqual(ids);
        },
      ),
    );
  });

  test('a quick attempt doubles what may be under way, up to half of all; a slow one sets it back to a tenth', () => {
    const lanes = createLanes(100);
    const limits = [limitOf(lanes, 'a')];
    for (const durationMs of [1, 1, null, 1, 1, slowMs, slowMs, slowMs - 1]) {
      attempt(lanes, 'a', durationMs);
      limits.push(limitOf(lanes, 'a'));
    }
    expect(limits).toEqual([5, 10, 20, 20, 40, 50, 10, 10, 20]);
    expect(limitOf(lanes, 'b')).toBe(5);
  });

  test('one that is under way for long makes its lane slow before it ends, and a quick one ends that', () => {
    const lanes = createLanes(100);
    for (let n = 0; n < 5; n += 1) attempt(lanes, 'a', 1);
    lanes.markSlow('a');
    expect([lanes.isSlow('a'), limitOf(lanes, 'a')]).toEqual([true, 10]);
    attempt(lanes, 'a', null);
    expect(lanes.isSlow('a')).toBe(true);
    attempt(lanes, 'a', 1);
    expect([lanes.isSlow('a'), limitOf(lanes, 'a')]).toEqual([false, 20]);
  });

  test('at most 2,000 wait in one lane and 20,000 in all; what left makes room again', () => {
    const lanes = createLanes(100);
    const fill = (webhookId: string, count: number) =>
      Array.from({ length: count }, (_, n) => lanes.wait(webhookId, `${webhookId}-${n}`)).filter(Boolean)
        .length;
    expect(fill('0', 2_001)).toBe(2_000);
    expect(lanes.wait('0', '0-1')).toBe(true); // waits already
    for (let n = 1; n < 10; n += 1) expect(fill(String(n), 2_001)).toBe(2_000);
    expect(fill('10', 10)).toBe(0);
    expect(lanes.admitWaiting('0')).toHaveLength(5);
    expect(fill('10', 10)).toBe(5);
    expect(lanes.emptyWaiting()).toHaveLength(20_000);
    expect(fill('10', 10)).toBe(10);
  });

  test('after deliveries were turned away, more is wanted once, and only when all that waited is admitted', () => {
    const lanes = createLanes(100);
    for (let n = 0; n < 2_001; n += 1) lanes.wait('a', `a-${n}`);
    let admitted = 0;
    while (admitted < 2_000) {
      expect(lanes.wantsMore('a')).toBe(false);
      const next = lanes.admitWaiting('a');
      admitted += next.length;
      next.forEach(() => lanes.leave('a', 1));
    }
    expect([lanes.wantsMore('a'), lanes.wantsMore('a'), lanes.wantsMore('b')]).toEqual([true, false, false]);
  });

  test.each([
    [199, false],
    [200, true],
  ])(
    'after %d waited, which a worker that is gone may have had more of, more is wanted: %s',
    (count, wanted) => {
      const lanes = createLanes(100);
      for (let n = 0; n < count; n += 1) lanes.wait('a', `a-${n}`);
      for (let admitted = 0; admitted < count;) {
        const next = lanes.admitWaiting('a');
        admitted += next.length;
        next.forEach(() => lanes.leave('a', 1));
      }
      expect([lanes.wantsMore('a'), lanes.wantsMore('a')]).toEqual([wanted, false]);
    },
  );

  test('a lane that turned away because others are full wants more although few waited in it', () => {
    const lanes = createLanes(100);
    for (let lane = 0; lane < 10; lane += 1)
      for (let n = 0; n < 2_000; n += 1) lanes.wait(`full-${lane}`, `${lane}-${n}`);
    expect(lanes.wait('a', 'a-0')).toBe(false);
    expect([lanes.wantsMore('a'), lanes.wantsMore('a')]).toEqual([true, false]);
  });

  test('help is wanted where more waits than may be under way, and not by a slow receiver', () => {
    const lanes = createLanes(100);
    for (let n = 0; n < 5; n += 1) lanes.wait('a', `a-${n}`);
    expect(lanes.wantsHelp('a')).toBe(false);
    lanes.wait('a', 'a-5');
    expect([lanes.wantsHelp('a'), lanes.wantsHelp('b')]).toEqual([true, false]);
    for (let n = 6; n < 60; n += 1) lanes.wait('a', `a-${n}`);
    lanes.markSlow('a');
    expect(lanes.wantsHelp('a')).toBe(false);
  });

  test('forgetting idle lanes loses nothing that is under way, waits or was turned away', () => {
    const lanes = createLanes(100);
    lanes.enter('busy');
    for (let n = 0; n < 7; n += 1) lanes.wait('waiting', `w-${n}`);
    lanes.expectMore('turned away');
    for (let n = 0; n < 9_990; n += 1) attempt(lanes, `idle-${n}`, 1);
    expect(limitOf(lanes, 'idle-0')).toBe(10);
    for (let n = 0; n < 30; n += 1) lanes.enter(`new-${n}`);
    expect(limitOf(lanes, 'idle-0')).toBe(5); // begins anew: it was forgotten
    expect(limitOf(lanes, 'busy')).toBe(4);
    expect(lanes.admitWaiting('waiting')).toHaveLength(5);
    expect(lanes.wantsMore('turned away')).toBe(true);
    expect(lanes.emptyWaiting()).toHaveLength(2);
  });
});
