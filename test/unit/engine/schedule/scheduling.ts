import type { Due, Room, DueClaim } from '../../../../src/engine/outbox/types.js';
import type { Sign } from '../../../../src/engine/schedule/congestion.js';
import type { InFlight } from '../../../../src/engine/schedule/lanes.js';
import type { Page } from '../../../../src/engine/schedule/places.js';
import { Scheduler } from '../../../../src/engine/schedule/scheduler.js';

export type Act =
  | { kind: 'record'; shipper: string; events: number }
  | { kind: 'owe'; webhook: { shipper: string; n: number }; count: number; agoMs: number }
  | { kind: 'pageRuns' }
  | { kind: 'pageComes'; fails: boolean }
  | { kind: 'otherProcessTakes'; webhook: { shipper: string; n: number }; count: number }
  | { kind: 'end'; nth: number; durationMs: number; fails: boolean; sign?: Sign; retryAfterMs?: number }
  | { kind: 'giveBackEnds' }
  | { kind: 'pass'; ms: number }
  | { kind: 'notCallable'; webhook: { shipper: string; n: number } };

interface Row {
  claim: DueClaim;
  /** The entry of its last start or return; null before. */
  entry: InFlight | null;
  /** Where it is: in PostgreSQL, claimed by a page under way, pending, in flight, being given back, or sent. */
  at: 'owed' | 'coming' | 'pending' | 'inFlight' | 'returning' | 'sent';
  starts: number;
  failures: number;
}

const retryDelayMs = 300;

export interface Simulation {
  scheduler: Scheduler;
  concurrency: number;
  act(act: Act): void;
  /** Runs with quick responses until nothing happens any more. */
  finish(): void;
  unsent(): string[];
  sentTwice(): string[];
  passedOver(): string[];
  idleLanes(): string[];
  /** Claimed, and neither settled nor given back. */
  held(): string[];
  /** `waitedMs`: how long a delivery was due before its attempt; `sendableMs`: how much of that counts as ours. */
  waits(): { waitedMs: number; sendableMs: number }[];
  /** Rows are recorded at a steady pace. Returns the wait of the longest due one. */
  runSlowReceiver(options: { respondsAfterMs: number; everyMs: number; forMs: number }): number;
}

/** The real scheduler amid simulated rows, pages, attempts and a clock. */
export function createSimulation(options: {
  concurrency: number;
  slowMs: number;
  shippers: string[];
  webhooksOfShipper: number;
}): Simulation {
  const { concurrency } = options;
  const scheduler = new Scheduler(options);
  const rows: Row[] = [];
  const rowOf = new Map<DueClaim, Row>();
  /** `claimed`: null until its statement runs. */
  const pages: { page: Page; claimed: Row[] | null }[] = [];
  const passedOver: string[] = [];
  const waits: { waitedMs: number; sendableMs: number }[] = [];
  const beganAt = new Map<DueClaim, number>();
  let nowMs = 100_000;
  let made = 0;

  const webhookId = (shipper: string, n: number) => `${shipper}${n}`;
  const addRow = (shipperId: string, webhook: string, dueMs: number): Row => {
    made += 1;
    const claim = {
      shipperId,
      webhookId: webhook,
      deliveryId: `d${made}`,
      dueAt: new Date(dueMs),
      sendableForMs: 0,
      isProbe: false,
    } as DueClaim;
    const row: Row = { claim, entry: null, at: 'owed', starts: 0, failures: 0 };
    rows.push(row);
    rowOf.set(claim, row);
    return row;
  };
  const of = (webhook: string, at: Row['at']) =>
    rows.filter(({ claim, at: place }) => claim.webhookId === webhook && place === at);
  const retries: Row[] = [];
  const dueOf = ({ webhookId, dueAt }: DueClaim): Due => ({ webhookId, dueFromMs: dueAt.getTime() });

  /** Webhooks whose receivers were overloaded: their lanes may wait. */
  const overloaded = new Set<string>();

  const carryOn = () => {
    scheduler.pacing.grantStarts(nowMs);
    for (const entry of scheduler.starts(nowMs)) {
      const { claim } = entry;
      const row = rowOf.get(claim)!;
      if (row.at !== 'pending') throw new Error(`${claim.deliveryId} is started, and was ${row.at}`);
      const before = of(claim.webhookId, 'pending').filter((other) => other.claim.dueAt < claim.dueAt);
      if (before.length > 0) passedOver.push(claim.deliveryId);
      row.at = 'inFlight';
      row.starts += 1;
      row.entry = entry;
      scheduler.sending(entry, nowMs);
      beganAt.set(claim, nowMs);
    }
    const page = pages.length < 2 ? scheduler.nextPage(nowMs) : null;
    if (page) pages.push({ page, claimed: null });
  };
  const giveBack = (entries: InFlight[]) => {
    for (const entry of entries) {
      const row = rowOf.get(entry.claim)!;
      row.at = 'returning';
      row.entry = entry;
    }
  };
  const endGiveBack = (row: Row) => {
    row.at = 'owed';
    scheduler.ended(row.entry!, null, nowMs);
    scheduler.notify([dueOf(row.claim)], true, nowMs);
  };
  const end = (row: Row, durationMs: number, fails = false, sign: Sign = null, retryAfterMs = 0) => {
    if (sign === 'OVERLOADED') overloaded.add(row.claim.webhookId);
    row.at = 'sent';
    const waitedMs = beganAt.get(row.claim)! - row.claim.dueAt.getTime();
    waits.push({ waitedMs, sendableMs: scheduler.answered(row.entry!, nowMs) });
    scheduler.ended(row.entry!, durationMs, nowMs, sign, retryAfterMs);
    if (!fails) return;
    row.at = 'owed';
    row.failures += 1;
    row.claim = { ...row.claim, dueAt: new Date(nowMs + retryDelayMs) };
    rowOf.set(row.claim, row);
    retries.push(row);
  };
  const notifyOfRetries = () => {
    while (retries[0] && retries[0].claim.dueAt.getTime() <= nowMs)
      scheduler.notify([dueOf(retries.shift()!.claim)], true, nowMs);
  };
  const longestDue = (webhook: string, sinceMs: number, count: number) =>
    of(webhook, 'owed')
      .filter(({ claim }) => claim.dueAt.getTime() >= sinceMs && claim.dueAt.getTime() <= nowMs)
      .sort((a, b) => a.claim.dueAt.getTime() - b.claim.dueAt.getTime())
      .slice(0, count);
  const runPage = (page: Page): Row[] => {
    const claimed = page.wanted.flatMap(({ webhookId, room, sinceMs }) =>
      longestDue(webhookId, sinceMs, room),
    );
    for (const row of claimed) row.at = 'coming';
    return claimed;
  };
  const comePage = (fails: boolean) => {
    const next = pages.shift();
    if (!next) return;
    const { page } = next;
    if (fails) {
      scheduler.pageFailed(page);
      for (const row of next.claimed ?? []) row.at = 'owed'; // the sweeper finds it
      scheduler.notify(
        (next.claimed ?? []).map(({ claim }) => dueOf(claim)),
        false,
        nowMs,
      );
      return;
    }
    const claimed = next.claimed ?? runPage(page);
    for (const row of claimed) {
      row.at = 'pending';
      row.claim.sendableForMs = nowMs - row.claim.dueAt.getTime();
    }
    scheduler.claimed(
      claimed.map(({ claim }) => claim),
      nowMs,
      page,
    );
  };
  const record = (shipper: string, events: number) => {
    const room: Room = scheduler.reserve(Array<string>(events).fill(shipper), nowMs);
    const claims: DueClaim[] = [];
    const left: Due[] = [];
    for (let n = 0; n < options.webhooksOfShipper; n += 1) {
      const webhook = webhookId(shipper, n);
      let inLane = room.byWebhook[webhook] ?? room.ofOthers;
      for (let event = 0; event < events; event += 1) {
        const row = addRow(shipper, webhook, nowMs);
        if (inLane > 0 && claims.length < room.total) {
          inLane -= 1;
          row.at = 'pending';
          claims.push(row.claim);
        } else left.push(dueOf(row.claim));
      }
    }
    scheduler.claimed(claims, nowMs, room);
    scheduler.notify(left, true, nowMs);
  };
  const pass = (ms: number) => {
    nowMs += ms;
    notifyOfRetries();
    giveBack(scheduler.slow(nowMs));
  };

  const act = (act: Act) => {
    if (act.kind === 'record') record(act.shipper, act.events);
    else if (act.kind === 'owe') {
      const webhook = webhookId(act.webhook.shipper, act.webhook.n);
      for (let n = 0; n < act.count; n += 1)
        addRow(act.webhook.shipper, webhook, Math.min(nowMs, nowMs - act.agoMs + n)); // notifies of an already due row
      scheduler.notify([{ webhookId: webhook, dueFromMs: nowMs - act.agoMs }], false, nowMs);
    } else if (act.kind === 'pageRuns') {
      const next = pages.find(({ claimed }) => claimed === null);
      if (next) next.claimed = runPage(next.page);
    } else if (act.kind === 'pageComes') comePage(act.fails);
    else if (act.kind === 'otherProcessTakes') {
      const webhook = webhookId(act.webhook.shipper, act.webhook.n);
      for (const row of longestDue(webhook, -Infinity, act.count)) row.at = 'sent';
    } else if (act.kind === 'end') {
      const inFlight = rows.filter(({ at }) => at === 'inFlight');
      if (inFlight.length > 0) {
        const row = inFlight[act.nth % inFlight.length]!;
        end(row, act.durationMs, act.fails, act.sign, act.retryAfterMs);
      }
    } else if (act.kind === 'giveBackEnds')
      for (const row of rows.filter(({ at }) => at === 'returning')) endGiveBack(row);
    else if (act.kind === 'pass') pass(act.ms);
    else giveBack(scheduler.returnPending([webhookId(act.webhook.shipper, act.webhook.n)]));
    carryOn();
  };

  return {
    scheduler,
    concurrency,
    act,
    finish: () => {
      for (let round = 0; round < 10_000; round += 1) {
        pass(200);
        for (const row of rows.filter(({ at }) => at === 'inFlight')) end(row, 5);
        for (const row of rows.filter(({ at }) => at === 'returning')) endGiveBack(row);
        while (pages.length > 0) comePage(false);
        carryOn();
        const isUnderWay = pages.length + retries.length > 0 || scheduler.pacing.isTimed;
        if (!isUnderWay && rows.every(({ at }) => at === 'owed' || at === 'sent')) return;
      }
    },
    unsent: () => rows.filter(({ at }) => at !== 'sent').map(({ claim }) => claim.deliveryId),
    sentTwice: () =>
      rows.filter(({ starts, failures }) => starts > 1 + failures).map(({ claim }) => claim.deliveryId),
    passedOver: () => passedOver,
    held: () =>
      rows
        .filter(({ at }) => at !== 'owed' && at !== 'coming' && at !== 'sent')
        .map(({ claim }) => claim.deliveryId),
    waits: () => waits,
    idleLanes: () => {
      const { inFlight } = scheduler;
      const isFull = inFlight.quick >= concurrency || inFlight.unknown > 0 || inFlight.slow > 0;
      const webhooks = [
        ...new Set(rows.filter(({ at }) => at === 'pending').map(({ claim }) => claim.webhookId)),
      ];
      const mayWait = (webhook: string) => overloaded.has(webhook) || of(webhook, 'inFlight').length > 0;
      return isFull ? [] : webhooks.filter((webhook) => !mayWait(webhook));
    },
    runSlowReceiver: ({ respondsAfterMs, everyMs, forMs }) => {
      const startedAt = new Map<Row, number>();
      const endsAt = nowMs + forMs;
      let nextMs = nowMs;
      let oldestMs = 0;
      for (; nowMs < endsAt; pass(50)) {
        if (nowMs >= nextMs) {
          record(options.shippers[0]!, 1);
          nextMs += everyMs;
        }
        for (const row of rows.filter(({ at }) => at === 'inFlight')) {
          if (!startedAt.has(row)) startedAt.set(row, nowMs);
          oldestMs = Math.max(oldestMs, startedAt.get(row)! - row.claim.dueAt.getTime());
          if (nowMs - startedAt.get(row)! >= respondsAfterMs) end(row, respondsAfterMs);
        }
        for (const row of rows.filter(({ at }) => at === 'returning')) endGiveBack(row);
        while (pages.length > 0) comePage(false);
        carryOn();
      }
      return oldestMs;
    },
  };
}
