import { Router } from 'express';
import { readOnlyRoute } from '../platform/errors.js';
import {
  readWritten,
  renderReference,
  renderResults,
  renderWritten,
  writtenPages,
  type RenderedPage,
} from './docs/pages.js';
import { operationSections, sectionsOf } from './docs/search.js';
import { fixedBody } from './fixed-body.js';
import type { OpenApiDocument } from './openapi/types.js';

const maxQueryLength = 200;

/**
 * `/openapi.json`, `/docs` and the pages below it, with an ETag. Each is rendered on its first request: that keeps the
 * start quick, and `baseUrl`, which the reference's commands use, is known only then.
 */
export function documentPages(api: () => OpenApiDocument, baseUrl: () => string): Router {
  const router = Router();
  const serve = (path: string, make: () => ReturnType<typeof fixed>) => {
    const send = once(make);
    router
      .route(path)
      .get((request, response) => send()(request, response))
      .all(readOnlyRoute);
  };
  const document = once(api);
  serve('/openapi.json', () => fixed('application/json; charset=utf-8', JSON.stringify(document())));
  serve('/docs', () => asPage(renderReference(document(), baseUrl())));
  for (const path of Object.keys(writtenPages) as (keyof typeof writtenPages)[])
    serve(path, () => asPage(renderWritten(path)));
  const sections = once(() => [
    ...operationSections(document()),
    ...readWritten().flatMap(([path, page]) => sectionsOf(path, page)),
  ]);
  router
    .route('/docs/search')
    .get(({ query: { q } }, response) => {
      const query = typeof q === 'string' ? q.trim().slice(0, maxQueryLength) : '';
      const { page, contentSecurityPolicy } = renderResults(sections(), query);
      response.set('Content-Security-Policy', contentSecurityPolicy).type('html').send(page);
    })
    .all(readOnlyRoute);
  return router;
}

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
