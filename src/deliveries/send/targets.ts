import { LRUCache } from 'lru-cache';
import { createBatcher } from '../../platform/batch.js';
import type { Database } from '../../platform/database/postgres.js';
import type { AtRest, OwnHeaders } from '../../webhooks/at-rest/at-rest.js';
import { keptOfTarget } from './kept-headers.js';

/** How a webhook wants to be called. */
export interface Target {
  webhookId: string;
  revision: number;
  /** Its query is sealed: another text whenever the address was set anew. */
  storedAddress: string;
  /** What is sealed at rest, opened once. Throws where no key opens it. */
  open(): OpenTarget;
  /** The second secret signs along until then, during a rotation. */
  previousSecretUntil: Date | null;
}

export interface OpenTarget {
  url: string;
  headers: OwnHeaders;
  secret: string;
  previousSecret: string | null;
  /** What the log keeps of it with each attempt. */
  kept: string;
}

export interface Targets {
  /** The target as it is at this revision of the webhook, or at a later one. */
  of(webhook: { webhookId: string; revision: number }): Promise<Target>;
}

const remembered = 10_000;

/** Webhooks that are called again and again are read once: each claim says whether they have changed since. */
export function createTargets(db: Database, sealed: AtRest): Targets {
  const known = new LRUCache<string, Target>({ max: remembered });
  const loads = createBatcher<string, Target | undefined>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 10_000,
    flush: async (webhookIds) => {
      const rows = await loadTargets(db, [...new Set(webhookIds)]);
      const targets = rows.map((row) => targetOf(row, sealed));
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

interface TargetRow extends Omit<Target, 'open'> {
  headers: OwnHeaders;
  secret: string;
  previousSecret: string | null;
}

function targetOf({ headers, secret, previousSecret, ...row }: TargetRow, sealed: AtRest): Target {
  const { webhookId, storedAddress } = row;
  let opened: OpenTarget | undefined;
  const open = () => {
    const url = sealed.openAddress(webhookId, storedAddress);
    return {
      url,
      headers: sealed.openHeaders(webhookId, headers),
      secret: sealed.openSecret(webhookId, secret),
      previousSecret: previousSecret === null ? null : sealed.openSecret(webhookId, previousSecret),
      kept: keptOfTarget(url, headers),
    };
  };
  return { ...row, open: () => (opened ??= open()) };
}

const loadTargets = (db: Database, webhookIds: string[]): Promise<TargetRow[]> =>
  db.query<TargetRow>(
    'load-targets',
    `select webhook_id as "webhookId", revision, target_address as "storedAddress", headers, secret,
            previous_secret as "previousSecret", previous_secret_until as "previousSecretUntil"
       from webhooks where webhook_id = any($1::uuid[])`,
    [webhookIds],
  );
