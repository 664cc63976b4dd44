import { LRUCache } from 'lru-cache';
import { createBatcher } from '../../platform/batch.js';
import type { Database } from '../../platform/database/postgres.js';
import type { LargeBody } from '../outbox/types.js';
import type { Sealer, OwnHeaders } from './sealing.js';
import { ownHeaders, type FlatHeaders } from './headers.js';

export interface Target {
  webhookId: string;
  revision: number;
  /** The address with its query sealed, so the text differs each time the address is set. */
  storedAddress: string;
  /** Throws if no key opens it. */
  open(): OpenTarget;
}

/** Nothing but data: a thread gets a copy. */
export interface OpenTarget {
  url: string;
  headers: FlatHeaders;
  secret: string;
  /** After rotations: each signs, too, until its time (epoch). */
  earlierSecrets: readonly { secret: string; untilMs: number }[];
}

export interface Targets {
  /** The target at this revision of the webhook or a later one. Throws if the webhook is gone. */
  of(webhook: { webhookId: string; revision: number }): Promise<Target>;
}

const maxTargets = 10_000;

export function createTargets(db: Database, sealer: Sealer): Targets {
  const known = new LRUCache<string, Target>({ max: maxTargets });
  const loads = createBatcher<string, Target | undefined>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 10_000,
    flush: async (webhookIds) => {
      const rows = await loadTargets(db, [...new Set(webhookIds)]);
      const targets = rows.map((row) => targetOf(row, sealer));
      for (const target of targets) known.set(target.webhookId, target);
      const byId = new Map(targets.map((target) => [target.webhookId, target]));
      return webhookIds.map((webhookId) => byId.get(webhookId));
    },
  });
  return {
    of: async ({ webhookId, revision }) => {
      const target = known.get(webhookId);
      if (target && target.revision >= revision) return target;
      const loaded = await loads.add(webhookId);
      if (!loaded) throw new Error('The webhook is gone');
      return loaded;
    },
  };
}

interface TargetRow extends Omit<Target, 'open'> {
  headers: OwnHeaders;
  secret: string;
  earlierSecrets: StoredSecret[];
}

/** Sealed. */
interface StoredSecret {
  secret: string;
  /** ISO 8601. */
  until: string;
}

function targetOf({ headers, secret, earlierSecrets, ...row }: TargetRow, sealer: Sealer): Target {
  const { webhookId, storedAddress } = row;
  let opened: OpenTarget | undefined;
  const open = () => ({
    url: sealer.openAddress(webhookId, storedAddress),
    headers: ownHeaders(sealer.openHeaders(webhookId, headers)),
    secret: sealer.openSecret(webhookId, secret),
    earlierSecrets: earlierSecrets.flatMap((earlier) => openEarlier(webhookId, earlier, sealer)),
  });
  return { ...row, open: () => (opened ??= open()) };
}

/** After the loss of a key a new secret signs; those before need not hinder it. */
function openEarlier(webhookId: string, { secret, until }: StoredSecret, sealer: Sealer) {
  try {
    return [{ secret: sealer.openSecret(webhookId, secret), untilMs: Date.parse(until) }];
  } catch {
    return [];
  }
}

const loadTargets = (db: Database, webhookIds: string[]): Promise<TargetRow[]> =>
  db.query<TargetRow>(
    'load-targets',
    `select webhook_id as "webhookId", revision, target_address as "storedAddress", headers, secret,
            earlier_secrets as "earlierSecrets"
       from webhooks where webhook_id = any($1::uuid[])`,
    [webhookIds],
  );

/** The bodies that claims do not have. */
export interface Bodies {
  /** Throws if the event is gone. */
  of(large: LargeBody): Promise<string>;
}

const maxChars = 8 * 1024 * 1024;
const perStatement = 8;

/** Attempts of one event that start about the same time share one text. */
export function createBodies(db: Database): Bodies {
  const known = new LRUCache<string, string>({ maxSize: maxChars, sizeCalculation: ({ length }) => length });
  const loads = createBatcher<string, string | undefined>({
    maxItems: perStatement,
    concurrency: 2,
    maxWaiting: 10_000,
    flush: async (eventIds) => {
      const unread = [...new Set(eventIds)].filter((eventId) => !known.has(eventId));
      const read = new Map(unread.length > 0 ? await loadBodies(db, unread) : []);
      for (const [eventId, body] of read) known.set(eventId, body);
      return eventIds.map((eventId) => read.get(eventId) ?? known.get(eventId));
    },
  });
  return {
    of: async ({ eventId }) => {
      const body = known.get(eventId) ?? (await loads.add(eventId));
      if (body === undefined) throw new Error('The event is gone');
      return body;
    },
  };
}

async function loadBodies(db: Database, eventIds: string[]): Promise<[eventId: string, body: string][]> {
  const rows = await db.query<{ event_id: string; body: string }>(
    'load-bodies',
    `select e.event_id, e.body from unnest($1::uuid[]) as t (event_id)
      cross join lateral (select event_id, body from events where event_id = t.event_id limit 1) e`,
    [eventIds],
  );
  return rows.map(({ event_id, body }) => [event_id, body]);
}
