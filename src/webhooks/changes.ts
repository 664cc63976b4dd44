import { invalidRequest } from '../platform/errors.js';
import { masked, type Sealer, type OwnHeaders } from '../engine/send/sealing.js';
import type { WebhookChanges } from './schema.js';
import type { Webhook } from './store.js';

/**
 * Returns the fields of `given` that differ from the webhook, sealed as they are stored. Throws 400 for a masked value of a header that the
 * webhook does not have. A pause always counts: it also stops what was asked for by hand since the last one.
 */
export function changesOf(stored: Webhook, given: WebhookChanges, sealer: Sealer): WebhookChanges {
  const { webhookId } = stored;
  const { targetAddress, headers, ...others } = given;
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

const notStored = (name: string) => ({
  path: `headers.${name}`,
  message: 'is masked, but the webhook has no such header; give its value',
});
