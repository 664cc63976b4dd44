import { afterEach, describe, expect, test } from '@jest/globals';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { createLanes, type Lane } from '../../src/deliveries/dispatch/lanes/lanes.js';
import { createPuller, type Puller } from '../../src/deliveries/dispatch/puller.js';
import type { PulledClaim } from '../../src/deliveries/outbox/claim.js';
import { createLogger } from '../../src/platform/logger.js';
import { createMetrics } from '../../src/platform/metrics.js';
import type { Database } from '../../src/platform/database/postgres.js';

interface Page {
  webhookId: string;
  room: number;
  since: Date | null;
}

const dueAt = new Date('2026-01-01T00:00:10Z');

/** A puller over lanes whose backlog in PostgreSQL is a number. */
function createPulling({ spare = Infinity } = {}) {
  const lanes = createLanes(100, 1_000);
  const backlog = new Map<string, number>();
  const statements: Page[][] = [];
  const claims: PulledClaim[] = [];
  let failures = 0;
  let held = 0;
  let underWay = 0;
  let mostUnderWay = 0;
  let gate = Promise.resolve();

  const query = async (_name: string, _text: string, values: unknown[]) => {
    const [webhookIds, rooms, sinces] = values as [string[], number[], (Date | null)[]];
    const pages = webhookIds.map((webhookId, n) => ({ webhookId, room: rooms[n]!, since: sinces[n]! }));
    statements.push(pages);
    mostUnderWay = Math.max(mostUnderWay, (underWay += 1));
    await gate;
    await turn();
    underWay -= 1;
    if (failures > 0) {
      failures -= 1;
      throw new Error('out of reach');
    }
    return pages.flatMap(({ webhookId, room }) => {
      const count = Math.min(room, backlog.get(webhookId) ?? 0);
      backlog.set(webhookId, (backlog.get(webhookId) ?? 0) - count);
      return Array.from({ length: count }, () => ({ webhookId, dueAt }) as PulledClaim);
    });
  };
  const puller = createPuller({
    leaseDb: { query } as unknown as Database,
    logger: createLogger('silent'),
    metrics: createMetrics(),
    lanes,
    leaseMs: 10_000,
    budget: { forBacklogs: () => () => spare - held },
    onClaimed: (pulled) => keep(pulled),
  });
  const keep = (pulled: PulledClaim[]) => {
    claims.push(...pulled);
    held += pulled.length;
    for (const claim of pulled) lanes.of(claim.webhookId).waiting.push(claim);
  };
  return {
    lanes,
    puller,
    backlog,
    statements,
    claims,
    mostUnderWay: () => mostUnderWay,
    fail: (times: number) => (failures = times),
    hold: () => {
      let open = () => {};
      gate = new Promise((resolve) => (open = resolve));
      return open;
    },
    accept: ({ webhookId }: Lane, count: number) =>
      keep(Array.from({ length: count }, () => ({ webhookId, dueAt }) as PulledClaim)),
    /** Everything that was pulled for the lane has been sent. */
    send: (lane: Lane) => {
      held -= lane.waiting.splice(0).length;
      lanes.adapt(lane, 1);
      puller.offer(lane);
    },
  };
}

const settled = async () => {
  for (let n = 0; n < 20; n += 1) await turn();
};

describe('the puller', () => {
  let puller: Puller | undefined;
  afterEach(() => puller?.stop());
  const start = (options?: Parameters<typeof createPulling>[0]) => {
    const pulling = createPulling(options);
    puller = pulling.puller;
    return pulling;
  };

  test('all that PostgreSQL holds for a webhook comes through page by page, as far as there is room, then nothing more is asked', async () => {
    const { lanes, puller, backlog, statements, claims, send } = start();
    backlog.set('a', 300);
    puller.look(['a']);
    await settled();
    expect(claims).toHaveLength(20); // three rounds wait beside those under way
    for (let n = 0; n < 20 && claims.length < 300; n += 1) {
      send(lanes.of('a'));
      await settled();
    }
    expect(claims).toHaveLength(300);
    send(lanes.of('a'));
    await settled();
    expect(puller.unserved()).toEqual([]);
    const asked = statements.length;
    send(lanes.of('a'));
    await settled();
    expect(statements).toHaveLength(asked);
  });

  test('a lane that is full is told of more, and asks when it has room; until then it is left', async () => {
    const { lanes, puller, backlog, claims, send } = start();
    backlog.set('a', 21);
    puller.look(['a']);
    await settled();
    expect([claims.length, puller.unserved()]).toEqual([20, ['a']]);
    send(lanes.of('a'));
    await settled();
    expect([claims.length, puller.unserved()]).toEqual([21, []]);
  });

  test('webhooks that are told of together share a statement, each with its own room', async () => {
    const { puller, backlog, statements, claims } = start();
    for (const webhookId of ['a', 'b', 'c']) backlog.set(webhookId, 2);
    puller.look(['a', 'b']);
    puller.lookAhead(['c', 'a'], performance.now());
    await settled();
    expect(statements.map((pages) => pages.map(({ webhookId, room }) => [webhookId, room]))).toEqual([
      [
        ['a', 20],
        ['b', 20],
        ['c', 20],
      ],
    ]);
    expect(claims).toHaveLength(6);
  });

  test('a thousand webhooks with one delivery each share statements, though each has room for more', async () => {
    const { lanes, puller, backlog, statements, claims, send } = start({ spare: 100_000 });
    const webhookIds = Array.from({ length: 1_000 }, (_, n) => `webhook-${n}`);
    for (const webhookId of webhookIds) {
      lanes.adapt(lanes.of(webhookId), 1); // known to be quick
      backlog.set(webhookId, 1);
    }
    puller.lookAhead(webhookIds, performance.now());
    for (let n = 0; n < 20 && claims.length < 1_000; n += 1) await settled();
    expect(claims).toHaveLength(1_000);
    expect(statements.length).toBeLessThanOrEqual(10);
    for (const webhookId of webhookIds) send(lanes.of(webhookId));
  });

  test('a shipper with one webhook does not wait behind the thousand of another', async () => {
    const { lanes, puller, backlog, statements } = start({ spare: 100_000 });
    const webhookIds = Array.from({ length: 1_000 }, (_, n) => `webhook-${n}`);
    for (const webhookId of webhookIds) lanes.note(lanes.of(webhookId), 'many');
    lanes.note(lanes.of('only'), 'one');
    for (const webhookId of [...webhookIds, 'only']) backlog.set(webhookId, 1);
    puller.lookAhead(webhookIds, performance.now());
    puller.lookAhead(['only'], performance.now());
    await settled();
    expect(statements[0]!.map(({ webhookId }) => webhookId)).toContain('only');
  });

  test('what many lanes ask for stays within what one statement may claim and the process may hold', async () => {
    const { puller, backlog, statements, claims, mostUnderWay } = start({ spare: 450 });
    const webhookIds = Array.from({ length: 150 }, (_, n) => `w-${n}`);
    for (const webhookId of webhookIds) backlog.set(webhookId, 50);
    puller.look(webhookIds);
    await settled();
    for (const pages of statements)
      expect(pages.reduce((sum, { room }) => sum + room, 0)).toBeLessThanOrEqual(200);
    expect(mostUnderWay()).toBeLessThanOrEqual(2);
    expect([claims.length, puller.unserved().length]).toEqual([450, 150]);
  });

  test('a lane for which the process had no room is served as soon as it has, whoever made it', async () => {
    const { lanes, puller, backlog, claims, accept, send } = start({ spare: 20 });
    accept(lanes.of('a'), 20); // claimed by the statement that recorded them
    backlog.set('b', 3);
    puller.look(['b']);
    await settled();
    expect(claims).toHaveLength(20);
    send(lanes.of('a'));
    await settled();
    expect(claims.slice(20).map(({ webhookId }) => webhookId)).toEqual(['b', 'b', 'b']);
  });

  test('who is told while a statement is under way looks again, for it may have begun too early to see that', async () => {
    const { puller, backlog, statements, claims, hold } = start();
    const open = hold();
    puller.look(['a']);
    await settled();
    expect(statements).toHaveLength(1);
    puller.lookAhead(['a'], performance.now());
    open();
    backlog.set('a', 1);
    await settled();
    expect([statements.length, claims.length]).toEqual([2, 1]);
  });

  test('a page begins a little before where the last one ended, and from the beginning where somebody says so', async () => {
    const { lanes, puller, backlog, statements, send } = start();
    backlog.set('a', 25);
    puller.look(['a']);
    await settled();
    send(lanes.of('a'));
    await settled();
    backlog.set('a', 1);
    puller.look(['a']);
    await settled();
    const behind = new Date(dueAt.getTime() - 500);
    expect(statements.map(([page]) => page!.since)).toEqual([null, behind, null]);
  });

  test('what a statement made due that ran long is looked for from the beginning', async () => {
    const { puller, backlog, statements } = start();
    backlog.set('a', 5);
    puller.look(['a']);
    await settled();
    puller.lookAhead(['a'], performance.now() - 501);
    await settled();
    expect(statements.flat().map(({ since }) => since)).toEqual([null, null]);
  });

  test('who knows since when something has been due sends a lane back to there, and no further', async () => {
    const { puller, backlog, statements } = start();
    const from = (at: Date) => new Date(at.getTime() - 500);
    const earlier = new Date(dueAt.getTime() - 60_000);
    backlog.set('a', 5);
    puller.look(['a']);
    await settled();
    puller.lookFrom([{ webhookId: 'a', dueAt: new Date(dueAt.getTime() + 1) }]);
    await settled();
    puller.lookFrom([
      { webhookId: 'a', dueAt: earlier },
      { webhookId: 'never seen', dueAt },
    ]);
    await settled();
    expect(statements.flat().map(({ webhookId, since }) => [webhookId, since])).toEqual([
      ['a', null],
      ['a', from(dueAt)],
      ['a', from(earlier)],
      ['never seen', null],
    ]);
  });

  test('a webhook named with others keeps within its room, also where idle lanes are forgotten at that moment', async () => {
    const { lanes, puller, backlog, claims } = start();
    for (let n = 0; n < 9_999; n += 1) lanes.of(`idle-${n}`);
    backlog.set('a', 1_000);
    puller.look(['a', 'b']);
    for (let n = 0; n < 10; n += 1) await settled();
    expect(lanes.of('idle-0').shipperId).toBe(''); // a new one
    expect(claims).toHaveLength(lanes.firstRoom);
    expect(lanes.of('a').waiting).toHaveLength(lanes.firstRoom);
  });

  test('a statement that fails is tried again by itself, and nothing of its room is lost', async () => {
    const { lanes, puller, backlog, statements, claims, fail } = start();
    backlog.set('a', 5);
    fail(1);
    puller.look(['a']);
    await settled();
    expect([claims.length, puller.unserved(), lanes.of('a').reserved]).toEqual([0, ['a'], 0]);
    for (const end = Date.now() + 10_000; claims.length < 5 && Date.now() < end;) await sleep(20);
    expect(claims).toHaveLength(5);
    expect(statements.map(([page]) => page!.room)).toEqual([20, 20]);
  });

  test('stopping waits for the statement under way and asks nothing more; what may be due is left to others', async () => {
    const { puller, backlog, statements, claims, hold } = start();
    backlog.set('a', 30);
    const open = hold();
    puller.look(['a']);
    await settled();
    let stopped = false;
    const stopping = puller.stop().then(() => (stopped = true));
    puller.look(['b']);
    await settled();
    expect(stopped).toBe(false);
    open();
    await stopping;
    expect([statements.length, claims.length, puller.unserved()]).toEqual([1, 20, ['a', 'b']]);
  });
});
