/** The signature doctor: why a notification does not verify. It runs in browsers, too. */
import { isConsumed, isServiceForm, serviceForm } from './diagnosis/body.js';
import { mistakeIn } from './diagnosis/computed.js';
import {
  changedBody,
  consumedBody,
  digestsIn,
  finding,
  isHint,
  malformedSecret,
  malformedSignatures,
  missingHeader,
  wrongTime,
  type Finding,
} from './diagnosis/finding.js';
import { parseHeaders } from './diagnosis/headers.js';
import { findMatch, possibleStarts, readBody, type Body, type Match } from './diagnosis/match.js';
import { readSecret, type SecretReading } from './diagnosis/secret.js';
import { headerValues, isEmpty, type RequestHeaders } from './request-headers.js';

export { parseHeaders, type Finding };

export interface DiagnosisInput {
  /** The headers of the request that was refused; text is read by `parseHeaders`. */
  headers: string | RequestHeaders;
  /** The body as the receiver has it. */
  rawBody: string | Uint8Array;
  /** The one that the receiver verifies with. */
  secret: string | undefined;
  /** The one before the last rotation. */
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
  /** Whether a signature matches, be it after the faults in `findings` were put right. */
  explained: boolean;
  findings: Finding[];
}

/** A pasted text may have the headers of several requests. */
const maxValues = 4;
/** During a rotation a request has two. */
const maxSignatures = 64;

/**
 * Names what keeps a notification from verifying: it tries the likely faults, several at once, until a signature
 * matches. It sends nothing anywhere. It needs WebCrypto, which browsers have on HTTPS and localhost only.
 */
export async function diagnose(input: DiagnosisInput): Promise<Diagnosis> {
  const { secret = '', toleranceSeconds = 300, now = new Date() } = input;
  const headers = typeof input.headers === 'string' ? parseHeaders(input.headers) : input.headers;
  const valuesOf = (name: string) => headerValues(headers, name).slice(0, maxValues);
  const ids = valuesOf('webhook-id');
  const timestamps = valuesOf('webhook-timestamp');
  const signatures = valuesOf('webhook-signature');
  const digests = signatures.flatMap(digestsIn).slice(0, maxSignatures);
  const current = readSecret(secret, digests);
  const previous = input.previousSecret ? [readSecret(input.previousSecret, digests)] : [];
  const body = readBody(input.rawBody);
  const starts = possibleStarts(ids, timestamps);
  const match = await findMatch(starts, [current, ...previous], body, digests);
  const missing = Object.entries({ id: ids, timestamp: timestamps, signature: signatures })
    .filter(([, values]) => values.length === 0)
    .map(([name]) => missingHeader(`webhook-${name}`));
  const findings: Finding[] = [
    ...(isEmpty(headers) ? [finding('NO_HEADERS', true)] : missing),
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

/** Without a match only what is plain to see is certain. */
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
  if (isConsumed(body.text)) findings.push(consumedBody(body.text));
  else if (!isServiceForm(body.text)) {
    const sent = serviceForm(body.text);
    const change = sent === null ? 'it is not a JSON object' : 'it is not as Parcelhook writes its JSON';
    const original = sent === null ? body.bytes : new TextEncoder().encode(sent);
    findings.push(changedBody([change], body.bytes, original, false));
  }
  const isComplete = id !== undefined && timestamp !== undefined && digests.length > 0;
  if (!isComplete || findings.some(({ certain }) => certain)) return findings;
  const isOfOne = hasGivenLength(headers, body) && isAfterRecording(id, timestamp);
  if (!isOfOne) findings.push(finding('OTHER_DELIVERY', false));
  if (!/^[!-~]{1,255}$/.test(id)) findings.push(finding('ID_ALTERED', false));
  return [...findings, finding('WRONG_SECRET', false)];
}

/** Whether the body has the length that its header says, if there is one. */
function hasGivenLength(headers: RequestHeaders, body: Body): boolean {
  const [length] = headerValues(headers, 'content-length');
  return length === undefined || Number(length) === body.bytes.length;
}

/** The allowed skew between the clocks of the service's own processes. */
const maxSkewSeconds = 5;

/** An attempt begins after its event was recorded. An event's id that the service made has that time (UUIDv7). */
function isAfterRecording(id: string, timestamp: string): boolean {
  if (!/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/i.test(id)) return true;
  if (!/^\d+$/.test(timestamp)) return true;
  const recordedMs = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  return Number(timestamp) >= Math.floor(recordedMs / 1_000) - maxSkewSeconds;
}
