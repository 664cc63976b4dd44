import { createHash } from 'node:crypto';
import { Router, type Response } from 'express';
import { onlyRead } from '../platform/errors.js';
import { renderDocs } from './docs/page.js';
import type { OpenApiDocument } from './openapi/types.js';

/**
 * `/openapi.json` and `/docs`, answered with an ETag. The page is made when it is first asked for: only then is it
 * known which address `baseUrl` has its commands use.
 */
export function documentPages(document: OpenApiDocument, baseUrl: () => string): Router {
  const json = fixed('application/json', JSON.stringify(document));
  let docs: ReturnType<typeof fixed> | undefined;
  const makeDocs = () => {
    const { page, contentSecurityPolicy } = renderDocs(document, baseUrl());
    return fixed('text/html', page, { 'Content-Security-Policy': contentSecurityPolicy });
  };
  const router = Router();
  router
    .route('/openapi.json')
    .get((_request, response) => json(response))
    .all(onlyRead);
  router
    .route('/docs')
    .get((_request, response) => (docs ??= makeDocs())(response))
    .all(onlyRead);
  return router;
}

/** Sends a body that does not change; express answers 304 where the caller has it already. */
function fixed(
  type: string,
  body: string,
  headers: Record<string, string> = {},
): (response: Response) => void {
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  return (response) => {
    response
      .set({ ...headers, ETag: etag, 'Cache-Control': 'public, max-age=300' })
      .type(type)
      .send(body);
  };
}
