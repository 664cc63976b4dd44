import { invalidRequest } from '../platform/errors.js';
import type { Database } from '../platform/database/postgres.js';
import { masked, type Sealer, type OwnHeaders } from './sealing/sealing.js';
import type { WebhookChanges } from './schema.js';
import { lockHeaders } from './store.js';

/** A masked value stays; then the stored headers are read and locked. */
const hasMasked = ({ headers = {} }: WebhookChanges): boolean => Object.values(headers).includes(masked);

/** Throws 400 for a masked value of a header that the webhook does not have. */
export async function sealChanges(
  { tx, sealer }: { tx: Database; sealer: Sealer },
  shipperId: string,
  webhookId: string,
  changes: WebhookChanges,
): Promise<WebhookChanges> {
  const { targetAddress, headers } = changes;
  const stored = hasMasked(changes) ? await lockHeaders(tx, shipperId, webhookId) : {};
  if (!stored) return changes; // no such webhook: the update changes nothing
  return {
    ...changes,
    ...(targetAddress !== undefined && { targetAddress: sealer.sealAddress(webhookId, targetAddress) }),
    ...(headers && { headers: fillMasked(headers, stored, (given) => sealer.sealHeaders(webhookId, given)) }),
  };
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
