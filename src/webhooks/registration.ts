import { actorOf, audited } from '../accounts/audit.js';
import {
  newSecret,
  type DestinationPolicy,
  type Sealer,
  masked,
  maskHeaders,
  withoutQuery,
  type OwnHeaders,
} from '../engine/engine.js';
import type { Caller, OutsideSlot, RawRequest } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
import { conflict, invalidRequest, type Detail } from '../platform/errors.js';
import { newId } from '../platform/ids.js';
import type { WebhookLimits } from './limits.js';
import { askToConfirm } from './mails/addresses.js';
import type { WebhookChanges, WebhookDeclaration, WebhookInput } from './schema.js';
import { findWebhookByName, insertWebhook, lockWebhook, updateWebhook, type Webhook } from './store.js';

export interface WebhookDependencies {
  db: Database;
  sealer: Sealer;
  policy: DestinationPolicy;
  webhooksPerShipper: number;
  /** Whether the service sends e-mails. */
  mails: boolean;
  limits: WebhookLimits;
  /** The interests of today's catalogue; others are stored for a later one. */
  knownInterests: ReadonlySet<string>;
  /** Resolves when no send to it can start any more. */
  onStopped(): Promise<void>;
  onDeleted(webhookId: string): Promise<void>;
  /** Called in the transaction that makes the webhook active, before its row changes. */
  onResuming(tx: Database, shipperId: string, webhookId: string): Promise<void>;
  /** Called in the transaction that gives it another address, before its row changes. */
  onMoving(tx: Database, shipperId: string, webhookId: string): Promise<void>;
  /** Called when deliveries may go that the webhook's status or circuit held. */
  onReleased(webhookId: string): void;
  onReordered(webhookId: string, outside: OutsideSlot): Promise<void>;
  health(webhookIds: string[]): Promise<Map<string, object>>;
  stats(webhookIds: string[]): Promise<Map<string, object>>;
}

const pausedByOperator = (webhookId: string) =>
  conflict(
    `The operator of this service has paused the webhook, so only the operator can resume it. Contact the operator, and name the webhook: ${webhookId}.`,
  );

/** Counts the creation. Null if its name is taken. */
export async function createWebhook(
  deps: WebhookDependencies,
  caller: Caller,
  given: WebhookInput,
  secret = newSecret(),
): Promise<{ webhook: Webhook; secret: string } | null> {
  const { db, sealer, limits } = deps;
  const { shipperId } = caller;
  await limits.creation({ shipperId, targetAddress: given.targetAddress });
  const webhookId = newId();
  const input = {
    ...given,
    webhookId,
    targetAddress: sealer.sealAddress(webhookId, given.targetAddress),
    headers: sealer.sealHeaders(webhookId, given.headers ?? {}),
    sealedSecret: sealer.sealSecret(webhookId, secret),
  };
  const created = await audited(
    db,
    actorOf(caller),
    async (tx) => {
      const made = await insertWebhook(tx, shipperId, input, deps.webhooksPerShipper);
      if (typeof made !== 'string' && given.notifyEmail) await askToConfirm(tx, shipperId, given.notifyEmail);
      return made;
    },
    (webhook) => (typeof webhook === 'string' ? null : { action: 'WEBHOOK_CREATED', shipperId, webhookId }),
  );
  if (created === 'FULL') throw conflict(`A shipper may have at most ${deps.webhooksPerShipper} webhooks.`);
  return created === 'NAME_TAKEN' ? null : { webhook: created, secret };
}

/** Counts the change. Null if the webhook was deleted since `before` was read. */
export async function changeWebhook(
  deps: WebhookDependencies,
  caller: Caller,
  before: Webhook,
  given: WebhookChanges,
  outside: OutsideSlot,
): Promise<Webhook | null> {
  const { db, sealer, limits } = deps;
  const { shipperId } = caller;
  const { webhookId } = before;
  const { targetAddress, status, ordering } = given;
  await limits.change(webhookId);
  const isMoving = targetAddress !== undefined && addressOf(before, sealer) !== targetAddress;
  if (targetAddress !== undefined)
    await limits.move({ shipperId, from: before.targetAddress, to: targetAddress });
  const update = async (tx: Database) => {
    if (status === 'ACTIVE') await deps.onResuming(tx, shipperId, webhookId);
    if (isMoving) await deps.onMoving(tx, shipperId, webhookId);
    const stored = await lockWebhook(tx, shipperId, webhookId);
    if (!stored) return null;
    if (status === 'ACTIVE' && stored.pausedBy === 'OPERATOR') throw pausedByOperator(webhookId);
    const changes = changesOf(stored, given, sealer);
    const fields = Object.keys(changes);
    const webhook = fields.length === 0 ? stored : await updateWebhook(tx, shipperId, webhookId, changes);
    if (webhook && given.notifyEmail) await askToConfirm(tx, shipperId, given.notifyEmail);
    return webhook && { webhook, fields };
  };
  const updated = await audited(db, actorOf(caller), update, (result) =>
    result && result.fields.length > 0
      ? { action: 'WEBHOOK_UPDATED', shipperId, webhookId, fields: result.fields }
      : null,
  );
  if (!updated) return null;
  if (ordering !== undefined) await deps.onReordered(webhookId, outside);
  if (status === 'ACTIVE' || isMoving) deps.onReleased(webhookId);
  if (status === 'PAUSED') await outside(deps.onStopped);
  return updated.webhook;
}

interface Declared {
  webhook: Webhook;
  isNew: boolean;
  /** Of a new webhook, unless the caller gave it. */
  secret?: string;
}

/** Each round but the last found the webhook created or deleted by somebody else meanwhile. */
const maxRounds = 5;

/** Creates the webhook of this name, or changes it where it differs from what is given. */
export async function declareWebhook(
  deps: WebhookDependencies,
  caller: Caller,
  { name, secret, ...given }: WebhookDeclaration & { name: string },
  { outside, withMisspelt }: Pick<RawRequest, 'outside' | 'withMisspelt'>,
): Promise<Declared> {
  const { db, sealer } = deps;
  for (let round = 0; round < maxRounds; round += 1) {
    const found = await findWebhookByName(db, caller.shipperId, name);
    if (!found) {
      const missing = missingFrom(given);
      if (missing.length > 0) throw invalidRequest(withMisspelt(missing));
      const created = await createWebhook(deps, caller, { ...(given as WebhookInput), name }, secret);
      if (!created) continue;
      return {
        webhook: created.webhook,
        isNew: true,
        ...(secret === undefined && { secret: created.secret }),
      };
    }
    const { webhook, sealedSecret } = found;
    if (secret !== undefined && !isSecretOf(webhook.webhookId, sealedSecret, secret, sealer))
      throw otherSecret(webhook.webhookId);
    if (Object.keys(changesOf(webhook, given, sealer)).length === 0) return { webhook, isNew: false };
    const changed = await changeWebhook(deps, caller, webhook, given, outside);
    if (changed) return { webhook: changed, isNew: false };
  }
  throw conflict('Others create and delete a webhook of this name at the same time; try again.');
}

export const nameTaken = (name: string) =>
  conflict(
    `You have a webhook with the name ${name} already. Choose another name, or update that one: PUT /v1/webhooks/by-name/${encodeURIComponent(name)}.`,
  );

const otherSecret = (webhookId: string) =>
  conflict(
    `The webhook has another secret, and a new one is made only by rotating it: POST /v1/webhooks/${webhookId}/rotate-secret. To keep its secret, leave out secret, or give the current one.`,
  );

/** The address as its owner wrote it, without the query if no key opens that. */
export function addressOf(
  { webhookId, targetAddress }: Pick<Webhook, 'webhookId' | 'targetAddress'>,
  sealer: Sealer,
): string {
  try {
    return sealer.openAddress(webhookId, targetAddress);
  } catch {
    return withoutQuery(targetAddress);
  }
}

/**
 * Returns the fields of `given` that differ from the webhook, sealed as they are stored. Throws 400 for a masked value of
 * a header that the webhook does not have, and for every header without its value if the address moves to another
 * origin: a user who may not read the values must not get them by moving the webhook to a server of his own. A pause
 * always counts: it also stops what was asked for by hand since the last one.
 */
function changesOf(stored: Webhook, given: WebhookChanges, sealer: Sealer): WebhookChanges {
  const { webhookId } = stored;
  const { targetAddress, headers, ...others } = given;
  if (targetAddress !== undefined && originOf(targetAddress) !== originOf(stored.targetAddress))
    requireValues(headers ?? maskHeaders(stored.headers));
  const different = Object.entries(others).filter(
    ([name, value]) =>
      (name === 'status' && value === 'PAUSED') ||
      JSON.stringify(value) !== JSON.stringify(stored[name as keyof typeof others]),
  );
  return {
    ...Object.fromEntries(different),
    ...(targetAddress !== undefined &&
      targetAddress !== opened(() => sealer.openAddress(webhookId, stored.targetAddress)) && {
        targetAddress: sealer.sealAddress(webhookId, targetAddress),
      }),
    ...(headers && changedHeaders(stored, headers, sealer)),
  };
}

/** A declaration creates no webhook without its required fields and the values of its headers. */
const missingFrom = ({ interests, targetAddress, headers = {} }: WebhookDeclaration): Detail[] => [
  ...Object.entries({ interests, targetAddress })
    .filter(([, value]) => value === undefined)
    .map(([path]) => ({ path, message: 'is required to create the webhook: you have none of this name' })),
  ...Object.keys(headers)
    .filter((name) => headers[name] === masked)
    .map(notStored),
];

/** False if no key opens the stored secret. */
const isSecretOf = (webhookId: string, sealedSecret: string, secret: string, sealer: Sealer) =>
  opened(() => sealer.openSecret(webhookId, sealedSecret)) === secret;

/** A warning that names the first of the others that has the same address, if any. */
export function sharedAddress(
  others: Pick<Webhook, 'webhookId' | 'name' | 'description' | 'targetAddress'>[],
  targetAddress: string,
  sealer: Sealer,
): Detail[] {
  const { href } = new URL(targetAddress);
  const [first, ...more] = others.filter((one) => new URL(addressOf(one, sealer)).href === href);
  if (!first) return [];
  const called = first.name ?? first.description;
  const other = called ? `${called} (${first.webhookId})` : first.webhookId;
  const count = more.length > 0 ? ` and ${more.length} more` : '';
  return [
    {
      path: 'targetAddress',
      message: `is also the address of your webhook ${other}${count}: it gets the notifications of each`,
    },
  ];
}

const originOf = (targetAddress: string) => new URL(targetAddress).origin;

function requireValues(headers: OwnHeaders): void {
  const withoutValue = Object.keys(headers).filter((name) => headers[name] === masked);
  if (withoutValue.length > 0) throw invalidRequest(withoutValue.map(notMoved));
}

const notMoved = (name: string) => ({
  path: `headers.${name}`,
  message: 'must be given again with its value, or left out, because targetAddress moves to another origin',
});

function changedHeaders(stored: Webhook, given: OwnHeaders, sealer: Sealer): Pick<WebhookChanges, 'headers'> {
  const { webhookId } = stored;
  const before = opened(() => sealer.openHeaders(webhookId, stored.headers));
  const isSame =
    before !== null &&
    Object.keys(given).length === Object.keys(before).length &&
    Object.entries(given).every(
      ([name, value]) => Object.hasOwn(before, name) && (value === masked || value === before[name]),
    );
  if (isSame) return {};
  return { headers: fillMasked(given, stored.headers, (one) => sealer.sealHeaders(webhookId, one)) };
}

/** Null if no key opens it: then any value is a change. */
function opened<Value>(open: () => Value): Value | null {
  try {
    return open();
  } catch {
    return null;
  }
}

function fillMasked(
  headers: OwnHeaders,
  stored: OwnHeaders,
  seal: (given: OwnHeaders) => OwnHeaders,
): OwnHeaders {
  const known = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
  const entries = Object.entries(headers).map(([name, value]) => ({
    name,
    value: value === masked ? known.get(name.toLowerCase()) : seal({ [name]: value })[name],
  }));
  const missing = entries.filter(({ value }) => value === undefined);
  if (missing.length > 0) throw invalidRequest(missing.map(({ name }) => notStored(name)));
  return Object.fromEntries(entries.map(({ name, value }) => [name, value!]));
}

const notStored = (name: string): Detail => ({
  path: `headers.${name}`,
  message: 'is masked, but the webhook has no such header; give its value',
});
