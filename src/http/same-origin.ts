import type { Request } from 'express';
import { ApiError } from '../platform/errors.js';

/** A page of another origin cannot send it without a preflight, which nothing here allows. */
export const csrfHeader = 'Parcelhook-Csrf';

const reads = ['GET', 'HEAD'];

/**
 * A browser sends a cookie by itself, so a request with one counts only if a page of this origin has made it: the
 * browser says so in `Sec-Fetch-Site` (Fetch Metadata), which no script can set. Throws 403.
 */
export function requireSameOrigin(request: Request): void {
  const site = request.get('Sec-Fetch-Site');
  if (site === undefined)
    throw refused('The header Sec-Fetch-Site is missing: browsers send it over HTTPS and to localhost only.');
  if (site !== 'same-origin')
    throw refused('A session works only on pages of this service: Sec-Fetch-Site must be same-origin.');
  if (!reads.includes(request.method) && request.get(csrfHeader) !== '1')
    throw refused(`The header ${csrfHeader}: 1 is missing.`);
}

const refused = (message: string) => new ApiError(403, 'FORBIDDEN', message);
