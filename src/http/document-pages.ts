import { Router } from 'express';
import { readOnlyRoute } from '../platform/errors.js';
import type { AsyncApiDocument } from './asyncapi.js';
import { readBuilt, renderPage, type Page, type RenderedPage } from './docs/frame.js';
import { trusted } from './docs/html.js';
import { renderDocs, renderOperatorDocs, type States } from './docs/page.js';
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
export function documentPages(documents: Documents, states: States, baseUrl: () => string): Router {
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
  serve('/docs', () => asPage(renderDocs(document(), states, baseUrl())));
  serve('/docs/operator', () => asPage(renderOperatorDocs(document(), baseUrl())));
  serve('/docs/receiving', () => asPage(written('/docs/receiving', 'Receiving notifications')));
  serve('/docs/runbook', () => asPage(written('/docs/runbook', 'Runbook')));
  return router;
}

/** A page made of a document: the build has made its text. */
const written = (path: Page['path'], title: string): RenderedPage =>
  renderPage({ path, title, content: trusted(readBuilt(`${path.replace('/docs/', '')}.html`)) });

const asPage = ({ page, contentSecurityPolicy }: RenderedPage) =>
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
