import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../../bench/scenarios/scenario.js';
import { registerAccount } from '../../../support/client.js';
import { laneLimits } from '../../../../src/engine/schedule/lanes.js';
import { slowResponseAfterMs } from '../load/journal.js';
import { startLoad } from '../load/load.js';
import type { History } from '../model.js';
import { concurrency } from '../world/service.js';
import type { Fault } from './fault.js';
import { notAccepted, othersUndisturbed } from './figures.js';

const path = '/h/its-slow';
const workers = 2;
const share = 0.9;
const atMostBehindMs = 30_000;
/** Long enough for three consecutive states of a shipment. */
const leastMs = 15_000;

/** The requested share of what the lanes of all workers can send to a slow receiver. */
const eventsPerSecond = (share * workers * laneLimits(concurrency).slow) / (slowResponseAfterMs / 1_000);

interface Owed {
  isCreated: boolean;
  /** When the event was accepted and the shipment's previous state had its response. */
  dueAt: number;
  arrivedAt: number;
}

function owedTo({ hooks, accepted, journal }: History): Owed[] {
  const { shipper } = hooks.find((hook) => hook.path === path)!;
  const arrivals = new Map<string, { at: number; endedAt: number }>();
  for (const entry of journal)
    if (entry.path === path && entry.statusCode < 300)
      arrivals.set(`${entry.trackingId} ${entry.state}`, entry);
  const turnAt = new Map<string, number>();
  return accepted
    .filter((event) => event.shipper === shipper)
    .map(({ trackingId, state, at }) => {
      const arrival = arrivals.get(`${trackingId} ${state}`);
      const dueAt = Math.max(at, turnAt.get(trackingId) ?? 0);
      turnAt.set(trackingId, arrival?.endedAt ?? Infinity);
      return { isCreated: state === 'CREATED', dueAt, arrivedAt: arrival?.at ?? Infinity };
    })
    .filter(({ dueAt }) => dueAt < Infinity);
}

/** The largest lag of the longest due missing delivery behind the latest due one that arrived. */
function furthestBehind(owed: Owed[]): number {
  const byDue = [...owed].sort((a, b) => a.dueAt - b.dueAt);
  let newestDueAt = 0;
  let furthestMs = 0;
  for (const { dueAt, arrivedAt } of [...owed].sort((a, b) => a.arrivedAt - b.arrivedAt)) {
    if (arrivedAt === Infinity) break;
    newestDueAt = Math.max(newestDueAt, dueAt);
    const oldest = byDue.find((one) => one.arrivedAt > arrivedAt);
    if (oldest) furthestMs = Math.max(furthestMs, newestDueAt - oldest.dueAt);
  }
  return furthestMs;
}

function figuresOf(history: History): Figure[] {
  const owed = owedTo(history);
  const longestWait = (some: Owed[]) => Math.max(0, ...some.map(({ dueAt, arrivedAt }) => arrivedAt - dueAt));
  const unit = 'ms';
  return [
    {
      name: 'oldest behind the newest by',
      value: furthestBehind(owed),
      unit,
      atMost: atMostBehindMs,
      note: `${owed.length} states`,
    },
    { name: 'longest wait of a first state', value: longestWait(owed.filter((one) => one.isCreated)), unit },
    { name: 'longest wait of a later state', value: longestWait(owed.filter((one) => !one.isCreated)), unit },
  ];
}

const nearlyFullLane: Fault = {
  name: 'B22',
  promise:
    'a receiver that responds after 3 s, at 90 % of what its lanes can send: every state arrives; the oldest ≤ 30 s behind the newest',
  workers,
  inFlight: 0,
  inject: async ({ world, times, random, alsoAccepted, note }) => {
    const account = await registerAccount(world.service);
    const shipper = world.accounts.length;
    await world.addHook(account, path, shipper);
    const seed = Math.floor(random() * 1_000_000);
    const load = startLoad(world.service.url, [account], eventsPerSecond, seed);
    await sleep(Math.max(leastMs, times(90) * 1_000));
    const never = await load.stop();
    alsoAccepted(load.accepted.map((event) => ({ ...event, shipper })));
    note({ name: 'events for the slow receiver not accepted', value: never.length, unit: '', atMost: 0 });
  },
  figures: (outcome) => [...figuresOf(outcome.history), notAccepted(outcome), othersUndisturbed(outcome)],
};

export const slowReceiverFaults: Fault[] = [nearlyFullLane];
