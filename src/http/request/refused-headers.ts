import type { Request, RequestHandler } from 'express';
import { invalidRequest, type Detail } from '../../platform/errors.js';

/** Refuses what no request may bear or lack, whatever it asks for. */
export const refuseHeaders: RequestHandler = (request, _response, next) => {
  const details = [...wrongInHttp(request), ...notifications(request)];
  if (details.length > 0) throw invalidRequest(details);
  next();
};

/** RFC 9110, 7.2 and 10.1.1, which Node would answer without a body (see `listen`). Before HTTP/1.1 neither was. */
function wrongInHttp({ httpVersion, headers }: Request): Detail[] {
  if (httpVersion !== '1.1') return [];
  const { host, expect = '' } = headers;
  return [
    ...(host === undefined ? [{ path: 'Host', message: 'is required' }] : []),
    ...(/^(100-continue)?$/i.test(expect) ? [] : [{ path: 'Expect', message: 'must be 100-continue' }]),
  ];
}

/** What a webhook of ours sends us would send the next one: a loop that only grows. */
function notifications({ headers }: Request): Detail[] {
  if (headers['parcelhook-attempt'] === undefined) return [];
  const message = 'marks a notification, and this service takes none: a webhook must not call it';
  return [{ path: 'Parcelhook-Attempt', message }];
}
