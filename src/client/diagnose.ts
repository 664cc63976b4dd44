/** The signature doctor: why a notification does not verify. It runs in browsers, too. */

import { isConsumed, isReadable, isServiceForm, serviceForm } from './diagnosis/body.js';
import { decodedBody, whyUnread } from './diagnosis/encoded.js';
import {
  changedBody,
  consumedBody,
  digestsIn,
  finding,
  isHint,
  malformedSecret,
  malformedSignatures,
  missingHeader,
  unreadBody,
  unreadHeader,
  wrongTime,
  type Finding,
} from './diagnosis/finding.js';
import {
  findMatch,
  possibleStarts,
  readBody,
  type Body,
  type Match,
  digestOf,
  type Signed,
} from './diagnosis/match.js';
import { readPasted } from './diagnosis/pasted.js';
import { readSecret, type SecretReading } from './diagnosis/secret.js';
import { headerValues, isEmpty, type RequestHeaders } from './request-headers.js';
import type { RawBody } from './signed-request.js';

export { type Finding };

/**
 * The headers in a pasted text, in lower case. A name that stands there twice with different values has both. The text
 * may be lines, JSON, or what a terminal, a log or a console shows of a request.
 */
export const parseHeaders = (text: string): Record<string, string | string[]> => readPasted(text).headers;

export interface DiagnosisInput {
  /** The headers of the request that was refused; text is read by `parseHeaders`. */
  headers: string | RequestHeaders;
  /** The body as the receiver has it. If it is empty, one that the text of the headers has is taken. */
  rawBody: RawBody;
  /** The one that the receiver verifies with. */
  secret: string | undefined;
  /** The secret before the last rotation. */
  previousSecret?: string | undefined;
  /** The signature that the receiver's own code computed. */
  computed?: string | undefined;
  /** How far `webhook-timestamp` may be from `now`. Default: 300. */
  toleranceSeconds?: number | undefined;
  /** When the notification arrived. Default: the current time. */
  now?: Date | undefined;
}

export interface Diagnosis {
  /** Whether the request verifies, with this secret and at this time. Findings are hints then. */
  ok: boolean;
  /** Whether a signature matches, possibly only after the faults in `findings` were put right. */
  explained: boolean;
  findings: Finding[];
}

/** A pasted text may have the headers of several requests. */
const maxValues = 4;
/** During a rotation a request has two signatures. */
const maxSignatures = 64;

/**
 * Names what keeps a notification from verifying: it tries the likely faults, several at once, until a signature
 * matches. It sends nothing anywhere. It needs WebCrypto, which browsers have on HTTPS and localhost only.
 */
export async function diagnose(input: DiagnosisInput): Promise<Diagnosis> {
  const { secret = '', toleranceSeconds = 300, now = new Date() } = input;
  const pasted = typeof input.headers === 'string' ? readPasted(input.headers) : null;
  const headers = pasted?.headers ?? (input.headers as RequestHeaders);
  const valuesOf = (name: string) => headerValues(headers, name).slice(0, maxValues);
  const ids = valuesOf('webhook-id');
  const timestamps = valuesOf('webhook-timestamp');
  const signatures = valuesOf('webhook-signature');
  const digests = signatures.flatMap(digestsIn).slice(0, maxSignatures);
  const current = readSecret(secret, digests);
  const previous = input.previousSecret ? [readSecret(input.previousSecret, digests)] : [];
  const given = readBody(input.rawBody);
  const body = given.bytes.length === 0 && pasted ? readBody(pasted.body) : given;
  const starts = possibleStarts(ids, timestamps);
  const match = await findMatch(starts, [current, ...previous], body, digests);
  const absent = Object.entries({ id: ids, timestamp: timestamps, signature: signatures })
    .filter(([, values]) => values.length === 0)
    .map(([name]) => `webhook-${name}`);
  const isUnread = (name: string) => pasted?.unread.includes(name) ?? false;
  const missing = isEmpty(headers)
    ? [hasText(input.headers) ? finding('HEADERS_UNREAD', false) : finding('NO_HEADERS', true)]
    : absent.map((name) => (isUnread(name) ? unreadHeader(name) : missingHeader(name)));
  const findings: Finding[] = [
    ...missing,
    ...timestamps.slice(0, 1).flatMap((value) => wrongTime(value, now, toleranceSeconds)),
    ...malformedSignatures(signatures, match !== null),
    ...(match
      ? faultsOf(match, body, current)
      : suspicions({ headers, id: ids[0], timestamp: timestamps[0], digests, body, secret: current })),
  ];
  if (match && input.computed) {
    const used = (match.reading === current ? secret : input.previousSecret!).trim();
    const message = await mistakeIn(input.computed, match.signed, used);
    findings.push({ cause: 'WRONG_COMPUTATION', certain: true, message });
  }
  return { ok: match !== null && findings.every(isHint), explained: match !== null, findings };
}

const hasText = (headers: string | RequestHeaders) => typeof headers === 'string' && headers.trim() !== '';

function faultsOf({ reading, start, original, place }: Match, body: Body, current: SecretReading): Finding[] {
  const changes = original.changes();
  const isSecond = reading === current && place > 0 && start.fault === null;
  return [
    ...malformedSecret(reading, true),
    ...(reading === current ? [] : [finding('PREVIOUS_SECRET', true)]),
    ...(isSecond ? [finding('ROTATION_UNDER_WAY', true)] : []),
    ...(reading.hasPrefix ? [] : [finding('SECRET_WITHOUT_PREFIX', true)]),
    ...(start.fault ? [start.fault] : []),
    ...(changes.length > 0 ? [changedBody(changes, body.bytes, original.bytes, true)] : []),
  ];
}

/** Findings if no secret and body match the signature: only those that the input itself shows are certain. */
function suspicions({
  headers,
  id,
  timestamp,
  digests,
  body,
  secret,
}: {
  headers: RequestHeaders;
  id: string | undefined;
  timestamp: string | undefined;
  digests: string[];
  body: Body;
  secret: SecretReading;
}): Finding[] {
  const findings = malformedSecret(secret, secret.key === null);
  const decoded = decodedBody(body.text);
  const text = decoded ?? body.text;
  if (isConsumed(body.text)) findings.push(consumedBody(body.text));
  else if (!isReadable(body.text)) return [...findings, unreadBody(whyUnread(body.text))];
  else if (!isServiceForm(text)) {
    const sent = serviceForm(text);
    const change = sent === null ? 'it is not a JSON object' : 'it is not as Parcelhook writes its JSON';
    const given = decoded === null ? body.bytes : bytes(decoded);
    findings.push(changedBody([change], given, sent === null ? given : bytes(sent), false));
  }
  const isComplete = id !== undefined && timestamp !== undefined && digests.length > 0;
  if (!isComplete || findings.some(({ certain }) => certain)) return findings;
  const isOfOne = hasGivenLength(headers, body) && isAfterRecording(id, timestamp);
  if (!isOfOne) findings.push(finding('OTHER_DELIVERY', false));
  if (!/^[!-~]{1,255}$/.test(id)) findings.push(finding('ID_ALTERED', false));
  return [...findings, finding('WRONG_SECRET', false)];
}

/** Whether the body, or a possible original of it, has the length in the header; true without that header. */
function hasGivenLength(headers: RequestHeaders, body: Body): boolean {
  const [length] = headerValues(headers, 'content-length');
  return length === undefined || body.originals().some(({ bytes }) => bytes.length === Number(length));
}

/** The allowed skew between the clocks of the service's own processes. */
const maxSkewSeconds = 5;

/**
 * An attempt begins after its event was recorded, at the time in the event's id, if the service made that id (UUIDv7).
 */
function isAfterRecording(id: string, timestamp: string): boolean {
  if (!/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/i.test(id)) return true;
  if (!/^\d+$/.test(timestamp)) return true;
  const recordedMs = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  return Number(timestamp) >= Math.floor(recordedMs / 1_000) - maxSkewSeconds;
}

interface Mistake {
  message: string;
  input(signed: Signed, secret: string): Signed;
}

const bytes = (text: string) => new TextEncoder().encode(text);

const mistakes: Mistake[] = [
  {
    message:
      'Your code uses the secret as text: Base64-decode what follows `whsec_`, and use those bytes as the key.',
    input: (signed, secret) => ({ ...signed, key: bytes(secret) }),
  },
  {
    message:
      'Your code removes `whsec_` but does not Base64-decode the rest: decode it, and use those bytes as the key.',
    input: (signed, secret) => ({ ...signed, key: bytes(secret.replace(/^whsec_/, '')) }),
  },
  {
    message:
      'Your code signs the body alone: sign `<webhook-id>.<webhook-timestamp>.<body>`, joined by full stops.',
    input: (signed) => ({ ...signed, prefix: '' }),
  },
  {
    message: 'Your code leaves out `webhook-id`: sign `<webhook-id>.<webhook-timestamp>.<body>`.',
    input: ({ prefix, ...signed }) => ({
      ...signed,
      prefix: prefix.slice(prefix.lastIndexOf('.', prefix.length - 2) + 1),
    }),
  },
];

/**
 * Says in a sentence what is wrong with the signature that a receiver's code computed, or with how it compares a right
 * one. `signed` has what the right signature is made of.
 */
async function mistakeIn(computed: string, signed: Signed, secret: string): Promise<string> {
  const right = await digestOf(signed);
  const bare = computed.trim().replace(/^v1,/, '');
  if (bare === right && bare === computed.trim())
    return 'Your code computes the right signature but leaves `v1,` on the one in the header: compare with what follows `v1,`.';
  if (bare === right)
    return 'Your code computes the right signature: compare it with each part of the header, which are separated by spaces.';
  for (const { message, input } of mistakes) {
    if (isSame(bare, await digestOf(input(signed, secret)))) return message;
  }
  if (isSame(bare, right)) return 'Your code writes the right signature in another form: write it in Base64.';
  return 'Your code computes another signature: take HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body as received>`, and write it in Base64.';
}

/** True if both are the same digest: `given` may be Base64, also for URLs or without padding, or hexadecimal. */
function isSame(given: string, digest: string): boolean {
  const hex = [...atob(digest)]
    .map((character) => character.charCodeAt(0).toString(16).padStart(2, '0'))
    .join('');
  const plain = given.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  return given.toLowerCase() === hex || plain === digest.replace(/=+$/, '');
}
