export interface Failure {
  /** The name of its component in the document. */
  name: string;
  code: string;
  description: string;
  message: string;
  details?: { path: string; message: string }[];
  headers?: string[];
}

/** The failures, by their HTTP status. */
export const failures: Record<number, Failure> = {
  400: {
    name: 'InvalidRequest',
    code: 'INVALID_REQUEST',
    description:
      'A body, parameter or header is invalid, or the endpoint has no such query parameter; `error.details` names every wrong field.',
    message: 'The request is not valid; see details.',
    details: [{ path: 'targetAddress', message: 'The address must begin with https://.' }],
  },
  401: {
    name: 'Unauthorized',
    code: 'UNAUTHORIZED',
    description:
      'The key, the credentials or the token is missing, wrong, expired or revoked. The message says what is missing or malformed, never which part is wrong. Log in again.',
    message: 'The key or the token is not valid, or the token has expired: log in again.',
    headers: ['WWW-Authenticate'],
  },
  403: {
    name: 'Forbidden',
    code: 'FORBIDDEN',
    description:
      "The token is valid, but the key is another shipper's, the account is suspended, or the operator's token does not allow it. Or the request has the portal's cookie, but does not come from a page of the service.",
    message: 'The token does not belong to the account of this key.',
  },
  404: {
    name: 'NotFound',
    code: 'NOT_FOUND',
    description: 'It does not exist, or it belongs to another shipper.',
    message: 'This webhook was not found.',
  },
  405: {
    name: 'MethodNotAllowed',
    code: 'METHOD_NOT_ALLOWED',
    description: 'The path exists, but does not accept this method; `Allow` lists those that it accepts.',
    message: 'This endpoint accepts GET, POST, HEAD.',
    headers: ['Allow'],
  },
  409: {
    name: 'Conflict',
    code: 'CONFLICT',
    description: 'The request is valid, but conflicts with the current state.',
    message: 'The idempotency key was used with another body in the last 24 hours.',
  },
  413: {
    name: 'PayloadTooLarge',
    code: 'PAYLOAD_TOO_LARGE',
    description: 'The body is larger than 256 KiB.',
    message: 'The body must have at most 262144 bytes.',
  },
  415: {
    name: 'UnsupportedMediaType',
    code: 'UNSUPPORTED_MEDIA_TYPE',
    description: 'The body is not `application/json`, not UTF-8, or compressed.',
    message: 'The body must be application/json in UTF-8, not compressed.',
  },
  429: {
    name: 'TooManyRequests',
    code: 'TOO_MANY_REQUESTS',
    description: 'Too many requests: wait as long as `Retry-After` says.',
    message: 'Too many requests.',
    headers: ['Retry-After'],
  },
  503: {
    name: 'Unavailable',
    code: 'UNAVAILABLE',
    description:
      'The database is out of reach; nothing was accepted, unless `message` says that the outcome is unknown. Send the request again after `Retry-After`, an order with its `Idempotency-Key`.',
    message: 'A dependency of the service is unavailable; nothing was accepted.',
    headers: ['Retry-After'],
  },
};

/** The failure for any other HTTP status. */
export const unexpected: Failure = {
  name: 'Unexpected',
  code: 'INTERNAL',
  description: 'Any other failure, such as an internal error (500), has the same format.',
  message: 'Something went wrong on our side.',
};
