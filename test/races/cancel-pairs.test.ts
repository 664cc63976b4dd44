import { describe, expect, test } from '@jest/globals';
import { claimRedeliveries, settleRedelivery } from '../../src/engine/outbox/redelivery.js';
import { requestRedelivery } from '../../src/catch-up/by-hand.js';
import { giveBack } from '../../src/engine/outbox/claim.js';
import { cancelOwed } from '../../src/engine/outbox/turns.js';
import { createStarts } from '../../src/engine/attempt/leases.js';
import { durationsOf } from '../../src/platform/durations.js';
import type { Database } from '../../src/platform/database/postgres.js';
import { markDeleted } from '../../src/webhooks/store.js';
import { drain, finish, leaseMs, pull, record, settlementOf } from '../support/core/acts.js';
import { doneOrWaiting, stopAt } from '../support/core/barriers.js';
import { expectEachOnce, expectSoundRows } from '../support/core/checks.js';
import {
  advance,
  askForReplay,
  cancel,
  expectWithdrawn,
  progressOf,
  replay,
  withdrawing,
} from '../support/core/replays.js';
import { failForGood, now, setUpRaces, shipmentId, webhookId, world } from '../support/core/race.js';
import { logOf, outboxOf } from '../support/core/world.js';
import { everyOther } from '../support/runs.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts, redeliveries, replays');

const wheres = ['SNAPSHOT', 'COMMIT'] as const;
const stops = [
  ['end-replay', 'COMMIT'],
  ['withdraw-page', 'SNAPSHOT'],
  ['withdraw-page', 'COMMIT'],
] as const;

interface Other {
  statement: string;
  run(db: Database, replayId: string): Promise<unknown>;
  /** The next sweep does this. */
  later?(db: Database): Promise<unknown>;
  ends: string[];
}

const sendByHand = (succeeded: boolean) => async (db: Database) => {
  const [row] = [...(await outboxOf(world)), ...(await logOf(world))];
  for (const claim of await claimRedeliveries(db, [row!.delivery_id], leaseMs))
    await settleRedelivery(db, settlementOf(claim, succeeded ? 'SUCCEEDED' : 'RETRY'));
};
const redeliver = (succeeded: boolean) => async (db: Database) => {
  const [row] = [...(await outboxOf(world)), ...(await logOf(world))];
  await requestRedelivery(world.db, world.shipperId, row!.delivery_id);
  await sendByHand(succeeded)(db);
};
const settling = (status: 'SUCCEEDED' | 'RETRY' | 'UNCHANGED') => async (db: Database) =>
  finish(db, await pull(world.db, webhookId), status);

const others: Record<string, Other> = {
  'a piece of the replay': { statement: 'replay-piece', run: (db) => advance(db), ends: ['1 FAILED'] },
  'a success': { statement: 'settle', run: settling('SUCCEEDED'), ends: ['1 FAILED', '1 SUCCEEDED'] },
  'a failure': { statement: 'settle', run: settling('RETRY'), ends: ['1 FAILED'] },
  'a probe that fails': { statement: 'settle', run: settling('UNCHANGED'), ends: ['1 FAILED'] },
  'a claim given back': {
    statement: 'give-back',
    run: async (db) => giveBack(db, await pull(world.db, webhookId)),
    ends: ['1 FAILED'],
  },
  'deleting the webhook': {
    statement: 'cancel-owed',
    run: async (db) => {
      await markDeleted(world.db, world.shipperId, webhookId);
      await cancelOwed(db, webhookId, 100);
    },
    ends: ['1 FAILED', '1 WEBHOOK_DELETED'],
  },
  'a second cancel': {
    statement: 'withdraw-page',
    run: (db, replayId) => cancel(world, db, replayId),
    ends: ['1 FAILED'],
  },
  'a redelivery that succeeds': {
    statement: 'claim-redeliveries',
    run: redeliver(true),
    later: sendByHand(true),
    ends: ['1 SUCCEEDED'],
  },
  'a redelivery that fails': {
    statement: 'claim-redeliveries',
    run: redeliver(false),
    later: sendByHand(false),
    ends: ['1 FAILED'],
  },
};

describe.each(Object.entries(others))('a cancel and %s', (_, { statement, run, later, ends }) => {
  const begin = async () => {
    await failForGood();
    // One piece of the replay is still to be made.
    const replayId = await askForReplay(world, webhookId);
    if (statement !== 'replay-piece') {
      await advance(world.db);
      await world.sql('update replays set walked_at = null');
    }
    return replayId;
  };
  const expectOneEnd = async (replayId: string) => {
    await advance(world.db);
    await later?.(world.db);
    const [is] = await now();
    expect(ends).toContain(is);
    await expectWithdrawn(world, webhookId, replayId, [is!]);
    await expectEachOnce(world, [webhookId], [shipmentId]);
  };

  test.each(wheres)('stopped at its %s: it is not sent again, and exists once', async (where) => {
    const replayId = await begin();
    const stop = stopAt(world, statement, where);
    const other = run(stop.db, replayId);
    await Promise.race([stop.reached, other]);
    const cancelling = cancel(world, world.db, replayId);
    await doneOrWaiting(world.db, cancelling, withdrawing);
    stop.go();
    await Promise.all([other, cancelling]);
    await expectOneEnd(replayId);
  });

  test.each(everyOther([...stops]))('and the stopped cancel, %s at its %s: the same', async (name, where) => {
    const replayId = await begin();
    const stop = stopAt(world, name, where);
    const cancelling = cancel(world, stop.db, replayId);
    await stop.reached;
    const other = run(world.db, replayId);
    await doneOrWaiting(world.db, other);
    stop.go();
    await Promise.all([other, cancelling]);
    await expectOneEnd(replayId);
  });
});

describe('a cancel and a claim', () => {
  test.each([
    ['pull-due', 'SNAPSHOT', 0],
    ['pull-due', 'COMMIT', 1],
    ['end-replay', 'COMMIT', 1],
    ['withdraw-page', 'SNAPSHOT', 0],
    ['withdraw-page', 'COMMIT', 0],
  ] as const)(
    '%s stopped at its %s: the claimed delivery is not sent again',
    async (name, where, claimed) => {
      await failForGood();
      const replayId = await replay(world, world.db, webhookId);
      const stop = stopAt(world, name, where);
      const first = name === 'pull-due' ? pull(stop.db, webhookId) : cancel(world, stop.db, replayId);
      await stop.reached;
      const second = name === 'pull-due' ? cancel(world, world.db, replayId) : pull(world.db, webhookId);
      await doneOrWaiting(world.db, second);
      stop.go();
      const claims = (await (name === 'pull-due' ? first : second)) as Awaited<ReturnType<typeof pull>>;
      await Promise.all([first, second]);
      expect(claims).toHaveLength(claimed);
      await finish(world.db, claims, 'RETRY');
      await expectWithdrawn(world, webhookId, replayId);
      expect((await logOf(world))[0]).toMatchObject({ attempt_count: 1 + claimed });
      await expectEachOnce(world, [webhookId], [shipmentId]);
    },
  );

  test('that sees the replay running and commits after its end: it starts at once or never', async () => {
    await failForGood();
    const replayId = await replay(world, world.db, webhookId);
    const claim = stopAt(world, 'pull-due', 'SNAPSHOT');
    const claiming = pull(claim.db, webhookId);
    await claim.reached;
    const takingBack = stopAt(world, 'take-withdrawing', 'COMMIT');
    const cancelling = cancel(world, takingBack.db, replayId);
    await takingBack.reached;
    claim.go();
    const claims = await claiming;
    takingBack.go();
    await cancelling;
    expect(claims).toHaveLength(1);
    expect(await createStarts(world.db, durationsOf()).mayStart(claims[0]!)).toBe(null);
    await giveBack(world.db, claims);
    await expectWithdrawn(world, webhookId, replayId);
  });
});

describe('the cancel of one replay and a piece of another', () => {
  const begin = async (owedAnyway: boolean) => {
    if (owedAnyway) {
      await record(world.db, shipmentId, ['CREATED']);
      await finish(world.db, await pull(world.db, webhookId), 'RETRY');
      await world.sql(`update outbox set due_at = now() + interval '1 hour'`);
    } else await failForGood();
    const first = await replay(world, world.db, webhookId);
    return { first, second: await askForReplay(world, webhookId) };
  };
  /** The delivery belongs to the second replay, or if that came too early, is as before both. */
  const expectOneOwner = async (first: string, second: string, owedAnyway: boolean) => {
    await advance(world.db);
    await expectSoundRows(world);
    expect(await world.sql(withdrawing)).toEqual([]);
    expect((await progressOf(world, first))[0]).toBe('CANCELLED');
    const [status, , total] = await progressOf(world, second);
    const isTheSeconds = total === 1;
    expect(status).toBe(isTheSeconds ? 'RUNNING' : 'DONE');
    expect(await pull(world.db, webhookId)).toHaveLength(isTheSeconds ? 1 : 0);
    await drain(world);
    expect(await now()).toEqual([isTheSeconds || owedAnyway ? '1 SUCCEEDED' : '1 FAILED']);
    await advance(world.db);
    expect(await progressOf(world, second)).toEqual(['DONE', total, total]);
    await expectEachOnce(world, [webhookId], [shipmentId]);
  };

  const cases = [false, true].flatMap((owedAnyway) => [
    ...wheres.map((where) => [owedAnyway, 'replay-piece', where] as const),
    ...stops.map((stop) => [owedAnyway, ...stop] as const),
  ]);
  test.each(everyOther(cases))(
    'owed anyway: %s, %s stopped at its %s: one owner in the end',
    async (owedAnyway, name, where) => {
      const { first, second } = await begin(owedAnyway);
      const stop = stopAt(world, name, where);
      const isPiece = name === 'replay-piece';
      const stopped = isPiece ? advance(stop.db) : cancel(world, stop.db, first);
      await stop.reached;
      const other = isPiece ? cancel(world, world.db, first) : advance(world.db);
      await doneOrWaiting(world.db, other);
      stop.go();
      await Promise.all<unknown>([stopped, other]);
      await world.sql(`update replays set next_at = now()`);
      await expectOneOwner(first, second, owedAnyway);
    },
  );
});
