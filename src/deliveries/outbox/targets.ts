import { LRUCache } from 'lru-cache';
import { createBatcher } from '../../platform/batch.js';
import type { Database } from '../../platform/postgres.js';

/** How a webhook wants to be called. */
export interface Target {
  webhookId: string;
  revision: number;
  targetAddress: string;
  headers: Record<string, string>;
  /** Sealed. */
  secret: string;
  /** Signs along until then, during a rotation. */
  previousSecret: string | null;
  previousSecretUntil: Date | null;
}

export interface Targets {
  /** The target as it is at this revision of the webhook, or at a later one. */
  of(webhook: { webhookId: string; revision: number }): Promise<Target>;
}

const remembered = 10_000;

/** Webhooks that are called again and again are read once: each claim says whether they have changed since. */
export function createTargets(db: Database): Targets {
  const known = new LRUCache<string, Target>({ max: remembered });
  const loads = createBatcher<string, Target | undefined>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 10_000,
    flush: async (webhookIds) => {
      const targets = await loadTargets(db, [...new Set(webhookIds)]);
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
      if (!loaded) throw new Error('the webhook is gone');
      return loaded;
    },
  };
}

const loadTargets = (db: Database, webhookIds: string[]): Promise<Target[]> =>
  db.query<Target>(
    'load-targets',
    `select webhook_id as "webhookId", revision, target_address as "targetAddress", headers, secret,
            previous_secret as "previousSecret", previous_secret_until as "previousSecretUntil"
       from webhooks where webhook_id = any($1::uuid[])`,
    [webhookIds],
  );
