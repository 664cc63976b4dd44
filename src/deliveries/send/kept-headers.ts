import { masked, type OwnHeaders } from '../../webhooks/at-rest/at-rest.js';
import { isFraming } from './headers.js';

/** What the headers of an attempt are made of, besides the webhook's own. */
export interface SignedAttempt {
  eventId: string;
  sequence: number;
  number: number;
  startedAt: Date;
  /** `webhook-signature`. */
  signature: string;
  /** The program's. */
  version: string;
}

/** `webhook-timestamp`: when the attempt began. */
export const timestampOf = ({ startedAt }: Pick<SignedAttempt, 'startedAt'>): number =>
  Math.floor(startedAt.getTime() / 1_000);

/** The headers that every attempt has, but for those of its framing (contract, section 5). */
export const serviceHeaders = (attempt: SignedAttempt): Record<string, string> => ({
  'content-type': 'application/json',
  'user-agent': `Parcelhook/${attempt.version}`,
  'webhook-id': attempt.eventId,
  'webhook-timestamp': String(timestampOf(attempt)),
  'webhook-signature': attempt.signature,
  'parcelhook-sequence': String(attempt.sequence),
  'parcelhook-attempt': String(attempt.number),
});

/** The webhook's part of what is kept: its host and the names of its own headers. */
export function keptOfTarget(url: string, headers: OwnHeaders): string {
  const names = Object.keys(headers).filter((name) => !isFraming(name));
  return `${new URL(url).host} ${names.join(',').toLowerCase()}`;
}

/**
 * Encodes what the log keeps of an attempt's headers: only what cannot be derived from its row and its event. Four
 * words; of the signatures, separated by commas, only the parts that differ.
 */
export const keptHeaders = ({ version, signature }: SignedAttempt, keptOfTarget: string): string =>
  `${version} ${keptOfTarget} ${signature.slice(3, -1).replaceAll('= v1,', ',')}`;

/**
 * Returns the headers of an attempt as they were sent, with names in lower case and the values of the webhook's own
 * headers masked. Returns null if none are kept.
 */
export function sentHeaders(
  kept: string | null,
  { number, startedAt }: Pick<SignedAttempt, 'number' | 'startedAt'>,
  { eventId, sequence, body }: Pick<SignedAttempt, 'eventId' | 'sequence'> & { body: string },
): Record<string, string> | null {
  const [version, host, names, signatures] = kept?.split(' ') ?? [];
  if (!version || !host || !signatures) return null;
  const ownNames = names ? names.split(',') : [];
  const signature = `v1,${signatures.replaceAll(',', '= v1,')}=`;
  return {
    host,
    ...Object.fromEntries(ownNames.map((name) => [name, masked])),
    ...serviceHeaders({ eventId, sequence, number, startedAt, signature, version }),
    'content-length': String(Buffer.byteLength(body)),
    connection: 'keep-alive', // Node's
  };
}
