export const errorCodes = [
  'TIMEOUT',
  'DNS',
  'CONNECT',
  'RESET',
  'TLS',
  'ADDRESS_DENIED',
  'HTTP_STATUS',
  'PROTOCOL',
] as const;
export type ErrorCode = (typeof errorCodes)[number];

export const TOO_MANY_ADDRESSES = 'TOO_MANY_ADDRESSES';
export const errorDetails = [TOO_MANY_ADDRESSES] as const;
export type ErrorDetail = (typeof errorDetails)[number];

/** By Node's error codes; the first match counts. */
const CODES: [RegExp, ErrorCode][] = [
  [/^ADDRESS_DENIED$/, 'ADDRESS_DENIED'],
  // The kernel's own timeout; the deadline of the exchange is reported without an error.
  [/^ETIMEDOUT$/, 'TIMEOUT'],
  // DNS is the code of our resolver. The others are getaddrinfo's, for the name of the egress proxy.
  [/^(DNS|ENODATA|ENOTFOUND|EAI_\w+)$/, 'DNS'],
  // No connection; PROXY_REFUSED is the egress proxy's response to CONNECT.
  [
    /^(ECONNREFUSED|E(HOST|NET)(UNREACH|DOWN)|EADDRNOTAVAIL|EACCES|EPERM|E[MN]FILE|PROXY_REFUSED)$/,
    'CONNECT',
  ],
  // The connection ended during the exchange, by RST or FIN.
  [/^(ECONNRESET|ECONNABORTED|EPIPE|ENOTCONN|ERR_STREAM_PREMATURE_CLOSE)$/, 'RESET'],
  // Node's, OpenSSL's and X.509's codes (node:tls, "X509 certificate error codes").
  [/^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|CRL_|UNABLE_TO_|ERROR_IN_|DEPTH_ZERO_|SELF_SIGNED_)/, 'TLS'],
  [/^(INVALID_(CA|PURPOSE)|HOSTNAME_MISMATCH|PATH_LENGTH_EXCEEDED|OUT_OF_MEM)$/, 'TLS'],
  // The rest is HTTP that one side cannot parse: HPE_* (llhttp), ERR_INVALID_*, ERR_HTTP_*.
  [/^/, 'PROTOCOL'],
];

export function errorCodeOf(error: unknown): ErrorCode {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return CODES.find(([pattern]) => pattern.test(code))?.[1] ?? 'PROTOCOL';
}

/** The detail of an error of ours, which is the cause of got's error. */
export function errorDetailOf(error: unknown): ErrorDetail | null {
  const detail = typeof error === 'object' && error !== null && 'detail' in error ? error.detail : null;
  return errorDetails.find((known) => known === detail) ?? null;
}
