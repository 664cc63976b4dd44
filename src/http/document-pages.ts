import { Router } from 'express';
import { readOnlyRoute } from '../platform/errors.js';
import type { AsyncApiDocument } from './asyncapi.js';
import { renderDocument } from './docs/document.js';
import { renderDocs } from './docs/page.js';
import { fixedBody } from './fixed-body.js';
import type { OpenApiDocument } from './openapi/types.js';

export interface Documents {
  api(): OpenApiDocument;
  notifications(): AsyncApiDocument;
}

/**
 * `/openapi.json`, `/asyncapi.json`, `/docs` and the documents below it, with an ETag. Each is rendered on its first
 * request: that keeps the start quick, and `baseUrl`, which the page's commands use, is known only then.
 */
export function documentPages(documents: Documents, baseUrl: () => string): Router {
  const router = Router();
  const serve = (path: string, make: () => ReturnType<typeof fixed>) => {
    const send = once(make);
    router
      .route(path)
      .get((request, response) => send()(request, response))
      .all(readOnlyRoute);
  };
  const document = once(documents.api);
  serve('/openapi.json', () => fixed('application/json; charset=utf-8', JSON.stringify(document())));
  serve('/asyncapi.json', () =>
    fixed('application/json; charset=utf-8', JSON.stringify(documents.notifications())),
  );
  serve('/docs', () => asPage(renderDocs(document(), baseUrl())));
  serve('/docs/receiving', () => asPage(renderDocument('receiving', 'Receiving notifications')));
  serve('/docs/runbook', () => asPage(renderDocument('runbook', 'Parcelhook runbook')));
  return router;
}

const asPage = ({ page, contentSecurityPolicy }: { page: string; contentSecurityPolicy: string }) =>
  fixed('text/html; charset=utf-8', page, { 'Content-Security-Policy': contentSecurityPolicy });

function once<Result>(make: () => Result): () => Result {
  let made: { result: Result } | undefined;
  return () => (made ??= { result: make() }).result;
}

const fixed = (type: string, text: string, headers: Record<string, string> = {}) =>
  fixedBody({
    type,
    body: Buffer.from(text),
    headers: { ...headers, 'Cache-Control': 'public, max-age=300' },
  });
