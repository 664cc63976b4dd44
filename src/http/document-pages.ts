import { createHash } from 'node:crypto';
import { Router, type Response } from 'express';
import { onlyRead } from '../platform/errors.js';
import type { AsyncApiDocument } from './asyncapi/types.js';
import { renderDocs } from './docs/page.js';
import type { OpenApiDocument } from './openapi/types.js';

/**
 * `/openapi.json`, `/asyncapi.json` and `/docs`, answered with an ETag. The page is made when it is first asked for: only then is it
 * known which address `baseUrl` has its commands use.
 */
export function documentPages(
  document: OpenApiDocument,
  notifications: AsyncApiDocument,
  baseUrl: () => string,
): Router {
  let docs: ReturnType<typeof fixed> | undefined;
  const makeDocs = () => {
    const { page, contentSecurityPolicy } = renderDocs(document, baseUrl());
    return fixed('text/html', page, { 'Content-Security-Policy': contentSecurityPolicy });
  };
  const router = Router();
  const serve = (path: string, answer: ReturnType<typeof fixed>) =>
    router
      .route(path)
      .get((_request, response) => answer(response))
      .all(onlyRead);
  serve('/openapi.json', fixed('application/json', JSON.stringify(document)));
  serve('/asyncapi.json', fixed('application/json', JSON.stringify(notifications)));
  serve('/docs', (response) => (docs ??= makeDocs())(response));
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
