/** The meaning of each, for the owner of a receiver. */
const meanings = {
  TIMEOUT: 'there was no complete response in time',
  DNS: 'the host has no address that may be called, or its name servers did not respond',
  CONNECT: 'nothing accepts connections at the address and port',
  RESET: 'the connection was closed before there was a response',
  TLS: 'the TLS handshake failed; `errorDetail` may say why',
  ADDRESS_DENIED: 'the target address may not be called, or not any more',
  HTTP_STATUS: 'the status of the response is not 2xx; redirects are not followed',
  PROTOCOL: 'the response is not HTTP/1.1, or the request could not be made',
  LOST: 'the process or thread that made the attempt ended before the outcome was known; the notification may have arrived, and is sent again unless it was a test',
} as const;
export type ErrorCode = keyof typeof meanings;
export const errorCodes = Object.keys(meanings) as [ErrorCode, ...ErrorCode[]];

export const TOO_MANY_ADDRESSES = 'TOO_MANY_ADDRESSES';
const detailMeanings = {
  EXPIRED: 'with `TLS`: the certificate has expired',
  SELF_SIGNED: 'with `TLS`: the certificate, or the root of its chain, is self-signed',
  WRONG_HOST: 'with `TLS`: the certificate is for a host other than that of the address',
  NOT_TLS: 'with `TLS`: the port does not speak TLS, so the address may begin with `http://`',
  INCOMPLETE_CHAIN:
    'with `TLS`: nothing leads from the certificate to a known authority; mostly, its intermediate certificates are not sent',
  UNKNOWN_CA: 'with `TLS`: the certificate, or its chain, is of an authority that is not publicly trusted',
  OLD_TLS: 'with `TLS`: the server speaks neither TLS 1.2 nor 1.3',
  BAD_CERTIFICATE:
    'with `TLS`: the certificate is not valid yet, not for servers, signed too weakly, or one that its authority may not sign',
  NO_COMMON_CIPHER:
    'with `TLS`: the server refused the handshake; mostly, it has no cipher, curve or kind of certificate that the service takes',
  CLIENT_CERTIFICATE_REQUIRED:
    'with `TLS`: the server demands a client certificate, and none is sent, or it refuses the one that `GET /v1/egress` shows',
  UNREACHABLE: 'with `CONNECT`: no network leads to the address, or no host has it',
  TOO_MANY_ADDRESSES: 'with `DNS`: the host has more than 32 addresses, and none of them is called',
  RESPONSE_TOO_LARGE:
    'with `PROTOCOL`, or beside a status: more than 64 KiB came, or 16 KiB of extensions of chunks',
  MALFORMED_HEADER:
    'beside a status, which counts all the same: the headers after it are incomplete or not valid HTTP',
  HEADERS_TOO_LARGE: 'beside a status, which counts all the same: the headers after it exceed 16 KiB',
  REFUSED: 'with `HTTP_STATUS`: the response has `webhook-delivery: abort-message`, which ends the retries',
} as const;
export type ErrorDetail = keyof typeof detailMeanings;
export const errorDetails = Object.keys(detailMeanings) as [ErrorDetail, ...ErrorDetail[]];

const explained = (words: Record<string, string>) =>
  Object.entries(words)
    .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
    .join('; ');

/** The explanations as the API's document has them. */
export const errorCodesExplained = explained(meanings);
export const errorDetailsExplained = explained(detailMeanings);

/** Our codes for those of Node; the first match counts. */
const CODES: [RegExp, ErrorCode][] = [
  [/^ADDRESS_DENIED$/, 'ADDRESS_DENIED'],
  // The kernel's own timeout; the deadline of the exchange is reported without an error.
  [/^ETIMEDOUT$/, 'TIMEOUT'],
  // Our resolver's, and that of a name whose address is denied.
  [/^(DNS|NO_PUBLIC_ADDRESS)$/, 'DNS'],
  // No connection; PROXY_REFUSED: no tunnel through the egress proxy.
  [
    /^(ECONNREFUSED|E(HOST|NET)(UNREACH|DOWN)|EADDRNOTAVAIL|EACCES|EPERM|E[MN]FILE|PROXY_REFUSED)$/,
    'CONNECT',
  ],
  // The connection ended during the exchange, by RST or FIN.
  [/^(ECONNRESET|ECONNABORTED|EPIPE|ENOTCONN|ERR_STREAM_PREMATURE_CLOSE)$/, 'RESET'],
  // Node's, OpenSSL's and X.509's codes (node:tls, "X509 certificate error codes").
  [/^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|CRL_|UNABLE_TO_|ERROR_IN_|DEPTH_ZERO_|SELF_SIGNED_)/, 'TLS'],
  // UNSPECIFIED: a fault of a certificate that Node has no code for, such as a weak signature.
  [/^(INVALID_(CA|PURPOSE)|HOSTNAME_MISMATCH|PATH_LENGTH_EXCEEDED|OUT_OF_MEM|UNSPECIFIED)$/, 'TLS'],
  // The rest is HTTP that one side cannot parse: HPE_* (llhttp), ERR_INVALID_*, ERR_HTTP_*.
  [/^/, 'PROTOCOL'],
];

export function errorCodeOf(error: unknown): ErrorCode {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return CODES.find(([pattern]) => pattern.test(code))?.[1] ?? 'PROTOCOL';
}

/** Our details for the codes of Node, OpenSSL and X.509. Node 20 has the reason of an EPROTO in its message only. */
const DETAILS: [RegExp, ErrorDetail][] = [
  [/^E(HOST|NET)(UNREACH|DOWN) /, 'UNREACHABLE'],
  [/^CERT_HAS_EXPIRED /, 'EXPIRED'],
  [/^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN) /, 'SELF_SIGNED'],
  [
    /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH) |alert unrecognized name|tlsv1 unrecognized name/,
    'WRONG_HOST',
  ],
  [/^UNABLE_TO_VERIFY_LEAF_SIGNATURE /, 'INCOMPLETE_CHAIN'],
  [/^(UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|INVALID_CA|CERT_UNTRUSTED) /, 'UNKNOWN_CA'],
  [/alert protocol version|unsupported protocol|wrong ssl version|version too low/, 'OLD_TLS'],
  // TLS 1.3 has an alert for it. Before that, servers use `bad certificate`; the others are about one that we sent.
  [
    /alert (certificate (required|revoked|expired|unknown)|(bad|unsupported) certificate|unknown ca)/,
    'CLIENT_CERTIFICATE_REQUIRED',
  ],
  [
    /^(CERT_NOT_YET_VALID|CERT_SIGNATURE_FAILURE|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|UNSPECIFIED) /,
    'BAD_CERTIFICATE',
  ],
  [/alert (handshake failure|insufficient security)/, 'NO_COMMON_CIPHER'],
  [/^HPE_HEADER_OVERFLOW /, 'HEADERS_TOO_LARGE'],
  [/^HPE_CHUNK_EXTENSIONS_OVERFLOW /, 'RESPONSE_TOO_LARGE'],
  [
    /^(EPROTO|ERR_SSL_\w+) .*(wrong version number|packet length too long|http request|unknown protocol)/s,
    'NOT_TLS',
  ],
];

/** More than an alert; less than a server's hello with a certificate. */
const alertBytes = 100;

/**
 * Takes the cause of got's error: an error of ours may have a detail, an error of TLS has a code. `wireBytes`: how much
 * the server had sent by then. If it refuses the handshake after it has sent its certificate, it wants ours: before
 * TLS 1.3, OpenSSL has no alert of its own for that.
 */
export function errorDetailOf(error: unknown, wireBytes: number): ErrorDetail | null {
  const { detail, code, message } = (error ?? {}) as { detail?: unknown; code?: unknown; message?: unknown };
  const text = `${String(code)} ${String(message)}`;
  if (wireBytes > alertBytes && text.includes('alert handshake failure'))
    return 'CLIENT_CERTIFICATE_REQUIRED';
  return (
    errorDetails.find((known) => known === detail) ??
    DETAILS.find(([pattern]) => pattern.test(text))?.[1] ??
    null
  );
}

/** The body of a response that has both Content-Length and Transfer-Encoding could be read in two ways (RFC 9112, 6.3). */
export const isFramedTwice = (error: unknown): boolean =>
  /Transfer-Encoding.*Content-Length|Content-Length.*Transfer-Encoding/.test(
    String((error as { message?: unknown } | null)?.message),
  );

/** Only the first value of the header `webhook-delivery` counts, in any case. Node joins repeated headers by commas. */
export const isAskedTo = (
  what: 'abort-message' | 'disable',
  { webhookDelivery }: { webhookDelivery: string | null },
): boolean => webhookDelivery?.split(',', 1)[0]!.trim().toLowerCase() === what;

/** `abort-message` on a failure ends the delivery's retries. */
export const isRefused = (response: { ok: boolean; webhookDelivery: string | null }): boolean =>
  !response.ok && isAskedTo('abort-message', response);
