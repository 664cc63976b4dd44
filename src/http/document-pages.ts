import { createHash } from 'node:crypto';
import { Router, type Response } from 'express';
import { onlyRead } from '../platform/errors.js';
import type { AsyncApiDocument } from './asyncapi/types.js';
import { renderDocs } from './docs/page.js';
import type { OpenApiDocument } from './openapi/types.js';

export interface Documents {
  api(): OpenApiDocument;
  notifications(): AsyncApiDocument;
}

/**
 * `/openapi.json`, `/asyncapi.json` and `/docs`, answered with an ETag. Each is made when it is first asked for: a start is to be
 * quick, and only then is it known which address `baseUrl` has the page's commands use.
 */
export function documentPages(documents: Documents, baseUrl: () => string): Router {
  const router = Router();
  const serve = (path: string, make: () => ReturnType<typeof fixed>) => {
    const answer = once(make);
    router
      .route(path)
      .get((_request, response) => answer()(response))
      .all(onlyRead);
  };
  const document = once(documents.api);
  serve('/openapi.json', () => fixed('application/json', JSON.stringify(document())));
  serve('/asyncapi.json', () => fixed('application/json', JSON.stringify(documents.notifications())));
  serve('/docs', () => {
    const { page, contentSecurityPolicy } = renderDocs(document(), baseUrl());
    return fixed('text/html', page, { 'Content-Security-Policy': contentSecurityPolicy });
  });
  return router;
}

function once<Result>(make: () => Result): () => Result {
  let made: { result: Result } | undefined;
  return () => (made ??= { result: make() }).result;
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
