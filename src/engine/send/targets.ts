import { LRUCache } from 'lru-cache';
import { createBatcher } from '../../platform/batch.js';
import type { Database } from '../../platform/database/postgres.js';
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
