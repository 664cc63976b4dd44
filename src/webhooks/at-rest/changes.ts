import { invalidRequest } from '../../platform/errors.js';
import type { Database } from '../../platform/database/postgres.js';
import { masked, type AtRest, type OwnHeaders } from './at-rest.js';
import type { WebhookChanges } from '../schema.js';
import { lockHeaders } from '../store.js';

/** Whether a change leaves a header's value as it is: then it is made in a transaction. */
const keepsValues = ({ headers = {} }: WebhookChanges): boolean => Object.values(headers).includes(masked);

/** The changes as they are stored. Throws 400 for a masked value of a header that the webhook does not have. */
export async function sealChanges(
  { tx, sealed }: { tx: Database; sealed: AtRest },
  shipperId: string,
  webhookId: string,
  changes: WebhookChanges,
): Promise<WebhookChanges> {
  const { targetAddress, headers } = changes;
  const kept = keepsValues(changes) ? await lockHeaders(tx, shipperId, webhookId) : {};
  if (!kept) return changes; // nothing will be changed
  return {
    ...changes,
    ...(targetAddress !== undefined && { targetAddress: sealed.sealAddress(webhookId, targetAddress) }),
    ...(headers && { headers: withKept(headers, kept, (given) => sealed.sealHeaders(webhookId, given)) }),
  };
}

function withKept(
  headers: OwnHeaders,
  kept: OwnHeaders,
  seal: (given: OwnHeaders) => OwnHeaders,
): OwnHeaders {
  const known = new Map(Object.entries(kept).map(([name, value]) => [name.toLowerCase(), value]));
  const entries = Object.entries(headers).map(([name, value]) => ({
    name,
    value: value === masked ? known.get(name.toLowerCase()) : seal({ [name]: value })[name],
  }));
  const missing = entries.filter(({ value }) => value === undefined);
  if (missing.length > 0) throw invalidRequest(missing.map(({ name }) => nothingKept(name)));
  return Object.fromEntries(entries.map(({ name, value }) => [name, value!]));
}

const nothingKept = (name: string) => ({
  path: `headers.${name}`,
  message: `is masked, but the webhook has no such header whose value could be kept`,
});
