import { isRefused, type ErrorDetail } from './errors.js';
import type { FlatHeaders } from './headers.js';
import type { PhaseTimes } from './phases.js';
import { masked } from './sealing.js';
import type { SendOutcome } from './sender.js';

/** The part of an attempt that nothing filters by. The log keeps it as one JSON text. */
export interface AttemptDetail extends PhaseTimes {
  /** The receiver's IP address. */
  remoteAddress: string | null;
  errorDetail: ErrorDetail | null;
  /** As sent, with names in lower case and the values of the webhook's own headers masked; null if none were sent. */
  requestHeaders: Record<string, string> | null;
  /** Null without a response, or if the shipment is erased. */
  responseHeaders: Record<string, string> | null;
}

export const noDetail: AttemptDetail = {
  dnsMs: null,
  connectMs: null,
  tlsMs: null,
  firstByteMs: null,
  remoteAddress: null,
  errorDetail: null,
  requestHeaders: null,
  responseHeaders: null,
};

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

type Exchange = PhaseTimes &
  Pick<
    SendOutcome,
    'ok' | 'requestSent' | 'remoteAddress' | 'errorDetail' | 'webhookDelivery' | 'rawResponseHeaders'
  >;

export function detailOf(exchange: Exchange, request: SentRequest): string {
  const detail: AttemptDetail = {
    dnsMs: exchange.dnsMs,
    connectMs: exchange.connectMs,
    tlsMs: exchange.tlsMs,
    firstByteMs: exchange.firstByteMs,
    remoteAddress: exchange.remoteAddress,
    errorDetail: isRefused(exchange) ? 'REFUSED' : exchange.errorDetail,
    requestHeaders: exchange.requestSent ? requestHeadersOf(request) : null,
    responseHeaders: request.erased ? null : responseHeadersOf(exchange.rawResponseHeaders),
  };
  return JSON.stringify(detail);
}

/** The detail of a success that is not kept: null, unless something was wrong with its headers. */
export const onlyErrorDetail = ({ errorDetail }: Pick<AttemptDetail, 'errorDetail'>): string | null =>
  errorDetail === null ? null : JSON.stringify({ ...noDetail, errorDetail });

export const parseDetail = (detail: string | null): AttemptDetail =>
  detail === null ? noDetail : (JSON.parse(detail) as AttemptDetail);

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
