/** Why an attempt failed, in the words of the delivery log. */
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

/** More about a failure than its code, if there is more to say. */
export const errorDetails = ['TOO_MANY_ADDRESSES'] as const;
export type ErrorDetail = (typeof errorDetails)[number];

/** The codes of Node's errors, in the words of the delivery log; the first row that matches counts. */
const CODES: [RegExp, ErrorCode][] = [
  [/^ADDRESS_DENIED$/, 'ADDRESS_DENIED'],
  // The kernel's own timeout; the deadline of the exchange is reported without an error.
  [/^ETIMEDOUT$/, 'TIMEOUT'],
  // A target's name; getaddrinfo's codes are about our egress proxy's.
  [/^(DNS|ENODATA|ENOTFOUND|EAI_\w+)$/, 'DNS'],
  // No connection came about; PROXY_REFUSED is our egress proxy's answer to CONNECT.
  [
    /^(ECONNREFUSED|E(HOST|NET)(UNREACH|DOWN)|EADDRNOTAVAIL|EACCES|EPERM|E[MN]FILE|PROXY_REFUSED)$/,
    'CONNECT',
  ],
  // A connection ended under the exchange, by RST or FIN.
  [/^(ECONNRESET|ECONNABORTED|EPIPE|ENOTCONN|ERR_STREAM_PREMATURE_CLOSE)$/, 'RESET'],
  // Node's, OpenSSL's and X.509's codes (node:tls, "X509 certificate error codes").
  [/^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|CRL_|UNABLE_TO_|ERROR_IN_|DEPTH_ZERO_|SELF_SIGNED_)/, 'TLS'],
  [/^(INVALID_(CA|PURPOSE)|HOSTNAME_MISMATCH|PATH_LENGTH_EXCEEDED|OUT_OF_MEM)$/, 'TLS'],
  // What is left is HTTP that one of the two sides cannot read: HPE_* (llhttp), ERR_INVALID_*, ERR_HTTP_*.
  [/^/, 'PROTOCOL'],
];

/** Which entry of the log a failed exchange makes. */
export function errorCodeOf(error: unknown): ErrorCode {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return CODES.find(([pattern]) => pattern.test(code))?.[1] ?? 'PROTOCOL';
}

/** The detail of one of our errors; an error of got's has ours as its cause. */
export function errorDetailOf(error: unknown): ErrorDetail | null {
  const detail = typeof error === 'object' && error !== null && 'detail' in error ? error.detail : null;
  return errorDetails.find((known) => known === detail) ?? null;
}
