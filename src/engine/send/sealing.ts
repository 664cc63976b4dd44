import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { createBatcher } from '../../platform/batch.js';
import type { Database } from '../../platform/database/postgres.js';
import { ownHeaders, type FlatHeaders, type OwnHeaders } from './headers.js';

/** The owner of a sealed text; it opens nowhere else. Earlier secrets are the field `secret`, too. */
export interface SealedField {
  /** The webhook's id; empty for a value that belongs to no webhook. */
  webhookId: string;
  field: string;
}

/** AES-256-GCM. A sealed text names its form and its key, so that both can change. */
export interface SecretBox {
  /** Begins every text sealed with the current key. */
  prefix: string;
  seal(text: string, where: SealedField): string;
  /** Throws if the text was sealed with neither key, was changed, or belongs elsewhere. */
  open(sealed: string, where: SealedField): string;
}

/** A signing secret of Standard Webhooks: `whsec_` and 32 random bytes in Base64. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** Another form would have another one. */
const sealedForm = '1:';

const algorithm = 'aes-256-gcm';
const authTagLength = 16;

interface Key {
  id: string;
  bytes: Buffer;
}

const deriveKey = (secretsKey: string): Key => {
  const bytes = createHash('sha256').update(secretsKey).digest();
  return { bytes, id: createHash('sha256').update(bytes).digest('hex').slice(0, 8) };
};

const boundTo = ({ webhookId, field }: SealedField) => Buffer.from(`${webhookId} ${field}`);

export function createSecretBox(secretsKey: string, otherKey?: string): SecretBox {
  const current = deriveKey(secretsKey);
  const keys = [current, ...(otherKey === undefined ? [] : [deriveKey(otherKey)])];
  const prefix = `${sealedForm}${current.id}.`;

  return {
    prefix,
    seal: (text, where) => {
      const iv = randomBytes(12);
      const cipher = createCipheriv(algorithm, current.bytes, iv, { authTagLength });
      cipher.setAAD(boundTo(where));
      const sealed = Buffer.concat([cipher.update(text), cipher.final()]);
      return prefix + [iv, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url')).join('.');
    },
    open: (sealed, where) => {
      const [form, ...parts] = sealed.split('.');
      const key = keys.find(({ id }) => form === sealedForm + id);
      const [iv, tag, text] = parts.map((part) => Buffer.from(part, 'base64url'));
      if (!key || !iv || !tag || !text) throw new Error('It was sealed with another SECRETS_KEY');
      const decipher = createDecipheriv(algorithm, key.bytes, iv, { authTagLength });
      decipher.setAAD(boundTo(where));
      decipher.setAuthTag(tag);
      return Buffer.concat([decipher.update(text), decipher.final()]).toString();
    },
  };
}

/** Shown instead of the value of a webhook's own header; sent back, it stands for the stored value. */
export const masked = '••••';

/** Opening throws if no key fits. */
export interface Sealer {
  sealSecret(webhookId: string, secret: string): string;
  openSecret(webhookId: string, stored: string): string;
  /** The address stays readable up to its query. */
  sealAddress(webhookId: string, address: string): string;
  openAddress(webhookId: string, stored: string): string;
  sealHeaders(webhookId: string, headers: OwnHeaders): OwnHeaders;
  openHeaders(webhookId: string, stored: OwnHeaders): OwnHeaders;
}

const headerField = (name: string) => `header ${name.toLowerCase()}`;

export function createSealer({ seal, open }: Pick<SecretBox, 'seal' | 'open'>): Sealer {
  return {
    sealSecret: (webhookId, secret) => seal(secret, { webhookId, field: 'secret' }),
    openSecret: (webhookId, stored) => open(stored, { webhookId, field: 'secret' }),
    sealAddress: (webhookId, address) =>
      mapQuery(address, (query) => seal(query, { webhookId, field: 'query' })),
    openAddress: (webhookId, stored) =>
      mapQuery(stored, (query) => open(query, { webhookId, field: 'query' })),
    sealHeaders: (webhookId, headers) =>
      mapValues(headers, (value, name) => seal(value, { webhookId, field: headerField(name) })),
    openHeaders: (webhookId, stored) =>
      mapValues(stored, (value, name) => open(value, { webhookId, field: headerField(name) })),
  };
}

export const withoutQuery = (address: string): string => address.split('?', 1)[0]!;

export const withoutQuerySql = (column: string): string => `split_part(${column}, '?', 1)`;

export const maskHeaders = (headers: OwnHeaders): OwnHeaders => mapValues(headers, () => masked);

function mapQuery(address: string, change: (query: string) => string): string {
  const at = address.indexOf('?') + 1;
  return at === 0 ? address : address.slice(0, at) + change(address.slice(at));
}

const mapValues = (headers: OwnHeaders, change: (value: string, name: string) => string): OwnHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, change(value, name)]));

export interface Target {
  webhookId: string;
  revision: number;
  /** The address with its query sealed, so the text differs each time the address is set. */
  storedAddress: string;
  /** Attempts that its owner allows in a second; null: no limit. */
  maxPerSecond: number | null;
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
            earlier_secrets as "earlierSecrets", max_per_second as "maxPerSecond"
       from webhooks where webhook_id = any($1::uuid[])`,
    [webhookIds],
  );
