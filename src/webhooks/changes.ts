import { invalidRequest, type Detail } from '../platform/errors.js';
import { masked, maskHeaders, withoutQuery, type OwnHeaders, type Sealer } from '../engine/engine.js';
import type { WebhookChanges, WebhookDeclaration } from './schema.js';
import type { Webhook } from './store.js';

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
export function changesOf(stored: Webhook, given: WebhookChanges, sealer: Sealer): WebhookChanges {
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
export const missingFrom = ({ interests, targetAddress, headers = {} }: WebhookDeclaration): Detail[] => [
  ...Object.entries({ interests, targetAddress })
    .filter(([, value]) => value === undefined)
    .map(([path]) => ({ path, message: 'is required to create the webhook: you have none of this name' })),
  ...Object.keys(headers)
    .filter((name) => headers[name] === masked)
    .map(notStored),
];

/** False if no key opens the stored secret. */
export const isSecretOf = (webhookId: string, sealedSecret: string, secret: string, sealer: Sealer) =>
  opened(() => sealer.openSecret(webhookId, sealedSecret)) === secret;

/** A warning that names the first of the others that has the same address, if any. */
export function sharedAddress(
  others: Pick<Webhook, 'webhookId' | 'name' | 'targetAddress'>[],
  targetAddress: string,
  sealer: Sealer,
): Detail[] {
  const { href } = new URL(targetAddress);
  const [first, ...more] = others.filter((one) => new URL(addressOf(one, sealer)).href === href);
  if (!first) return [];
  const other = first.name === null ? first.webhookId : `${first.name} (${first.webhookId})`;
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
