import { databaseNowMs, monotonicMs } from '../../platform/clock.js';
import { describeError } from '../../platform/errors.js';
import type { ErrorLog } from '../../platform/telemetry/logger.js';
import { policyOf, type Destinations } from './destination.js';
import { type LookupOptions, createDnsResolver } from './dns/resolver.js';
import { isHeavy, type PhaseTimes } from './connection.js';
import { isRefused } from './errors.js';
import { serviceHeaders, sign, timestampOf, type FlatHeaders } from './headers.js';
import { failedOutcome, type AttemptDetail, type AttemptOutcome, type Outgoing } from './messages.js';
import { masked, type OpenTarget } from './sealing.js';
import { createSender, type SendOutcome } from './sender.js';

/** Nothing but data: a thread gets a copy. */
export interface ExchangeSettings {
  destinations: Destinations;
  dns: LookupOptions;
  egressProxy?: string | undefined;
  timeoutMs: number;
  connectionMaxAgeMs?: number | undefined;
  /** Parcelhook's, for `user-agent`. */
  version: string;
  clientCertificate?: { cert: string; key: string } | undefined;
  /** Certificate authorities (PEM) to trust instead of Node's, in tests. */
  certificateAuthority?: string | undefined;
}

export interface Exchange {
  /**
   * Signs and sends. Does not reject: a request that cannot be made is a failed attempt, so that it is not retried for
   * ever. `ask` is called right before the first byte if that is late. It resolves with the time until which the byte
   * may go (`monotonicMs`); null if it may not go any more.
   */
  attempt(target: OpenTarget, outgoing: Outgoing, ask: () => Promise<number | null>): Promise<AttemptOutcome>;
  close(): void;
}

/** `sharedBy`: the number of exchanges in the process, which share its limit of idle connections. */
export function createExchange(settings: ExchangeSettings, sharedBy: number, logger: ErrorLog): Exchange {
  const { timeoutMs, version } = settings;
  const sender = createSender({
    policy: policyOf(settings.destinations),
    dns: createDnsResolver(settings.dns, logger),
    egressProxy: settings.egressProxy,
    maxAgeMs: settings.connectionMaxAgeMs,
    clientCertificate: settings.clientCertificate,
    certificateAuthority: settings.certificateAuthority,
    sharedBy,
  });
  const mayStart = (untilMs: number) => monotonicMs() <= untilMs;

  return {
    attempt: async (target, outgoing, ask) => {
      const { shipperId, eventId, body, sequence, number, erased, traceparent } = outgoing;
      const startedAt = new Date(databaseNowMs());
      const phaseEnds: AttemptOutcome['phaseEnds'] = [];
      try {
        const signature = sign(secretsOf(target, startedAt), eventId, timestampOf({ startedAt }), body);
        const signed = { eventId, sequence, number, startedAt, signature, version, traceparent };
        const own = serviceHeaders(signed, target.headers);
        const sent = await sender.send({
          url: target.url,
          shipperId,
          body,
          timeoutMs,
          headers: [...target.headers, ...own],
          mayStart: () =>
            mayStart(outgoing.startUntilMs) || ask().then((untilMs) => untilMs !== null && mayStart(untilMs)),
          onPhase: outgoing.isTraced ? (phase) => void phaseEnds.push([phase, Date.now()]) : undefined,
        });
        const request = { url: target.url, ownHeaders: target.headers, serviceHeaders: own, body, erased };
        return {
          startedAt,
          ok: sent.ok,
          withheld: sent.withheld,
          statusCode: sent.statusCode,
          errorCode: sent.errorCode,
          responseBody: erased ? null : sent.responseBody,
          durationMs: sent.durationMs,
          retryAfter: sent.retryAfter,
          webhookDelivery: sent.webhookDelivery,
          detail: sent.ok && !outgoing.keepsDetail ? onlyErrorDetail(sent) : detailOf(sent, request),
          phaseEnds,
          queuedMs: 0,
          isHeavy: isHeavy(sent),
        };
      } catch (error) {
        logger.error(
          { eventId, error: describeError(error) },
          'request not made; the attempt counts as failed',
        );
        return failedOutcome('PROTOCOL', startedAt);
      }
    },
    close: () => sender.close(),
  };
}

function secretsOf({ secret, earlierSecrets }: OpenTarget, now: Date): string[] {
  if (earlierSecrets.length === 0) return [secret];
  const nowMs = now.getTime();
  return [secret, ...earlierSecrets.flatMap((earlier) => (earlier.untilMs > nowMs ? earlier.secret : []))];
}

/** The parts of a request from which its headers are shown. */
export interface SentRequest {
  url: string;
  /** The webhook's own. */
  ownHeaders: FlatHeaders;
  serviceHeaders: FlatHeaders;
  body: string | Uint8Array;
  /** Its shipment is erased: nothing of the response is stored. */
  erased: boolean;
}

type Sent = PhaseTimes &
  Pick<
    SendOutcome,
    'ok' | 'requestSent' | 'remoteAddress' | 'errorDetail' | 'webhookDelivery' | 'rawResponseHeaders'
  >;

export function detailOf(sent: Sent, request: SentRequest): string {
  const detail: Omit<AttemptDetail, 'waitedMs'> = {
    dnsMs: sent.dnsMs,
    connectMs: sent.connectMs,
    tlsMs: sent.tlsMs,
    firstByteMs: sent.firstByteMs,
    remoteAddress: sent.remoteAddress,
    errorDetail: isRefused(sent) ? 'REFUSED' : sent.errorDetail,
    requestHeaders: sent.requestSent ? requestHeadersOf(request) : null,
    responseHeaders: request.erased ? null : responseHeadersOf(sent.rawResponseHeaders),
  };
  return JSON.stringify(detail);
}

/** The detail of a success that is not kept: null, unless something was wrong with its headers. */
const onlyErrorDetail = ({ errorDetail }: Pick<AttemptDetail, 'errorDetail'>): string | null =>
  errorDetail === null ? null : JSON.stringify({ errorDetail });

function requestHeadersOf({ url, ownHeaders, serviceHeaders, body }: SentRequest): Record<string, string> {
  const headers = emptyHeaders();
  headers.host = new URL(url).host;
  for (let at = 0; at < ownHeaders.length; at += 2) headers[ownHeaders[at]!.toLowerCase()] = masked;
  for (let at = 0; at < serviceHeaders.length; at += 2)
    headers[serviceHeaders[at]!] = serviceHeaders[at + 1]!;
  headers['content-length'] = String(Buffer.byteLength(body));
  headers.connection = 'keep-alive'; // set by Node
  return headers;
}

/** A name may be `__proto__`. */
const emptyHeaders = () => Object.create(null) as Record<string, string>;

/** The bound for all headers of a response: each counts its name, its value and four bytes, as on the wire. */
const maxResponseBytes = 4 * 1024;
const framingBytes = 4;

/**
 * At most 4 KiB, names in lower case, repeated ones joined by commas (RFC 9110, 5.3), the values of `set-cookie` masked.
 * In the order in which they came, those that no longer fit are left out whole.
 */
function responseHeadersOf(raw: FlatHeaders | null): Record<string, string> | null {
  if (raw === null) return null;
  const joined = emptyHeaders();
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase();
    const before = joined[name];
    joined[name] = before === undefined ? raw[at + 1]! : `${before}, ${raw[at + 1]!}`;
  }
  const headers = emptyHeaders();
  let leftBytes = maxResponseBytes;
  for (const name in joined) {
    const value = name === 'set-cookie' ? masked : textOf(joined[name]!);
    const bytes = name.length + Buffer.byteLength(value) + framingBytes;
    if (bytes > leftBytes) continue;
    leftBytes -= bytes;
    headers[name] = value;
  }
  return headers;
}

/** Node gives a character per byte. As in the body: UTF-8 with replacement characters, and no control characters. */
const textOf = (bytes: string): string =>
  (/^[\x20-\x7e]*$/.test(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8')).replaceAll(
    /\p{Cc}/gu,
    ' ',
  );
