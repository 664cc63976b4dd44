import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { type Response, Router, type Request } from 'express';
import { packageFolder } from '../platform/version.js';
import { methodNotAllowed, notFound, readOnlyRoute } from '../platform/errors.js';
import { isLoopback } from '../platform/networks.js';
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import {
  readWritten,
  renderReference,
  renderResults,
  renderWritten,
  writtenPages,
  type RenderedPage,
  operationSections,
  sectionsOf,
} from './docs/pages.js';
import type { OpenApiDocument } from './openapi/schemas.js';

const portalFolder = path.join(packageFolder, 'dist/portal');

/** A small page loads the portal's style and icon, and runs nothing. */
const smallPagePolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

let links: { all: string; icon: string } | undefined;

/** The links of the portal's own page to its icon and style, whose names have digests. */
function linksOfPortal() {
  const index = readFileSync(path.join(portalFolder, 'index.html'), 'utf8');
  const all = index.match(/<link rel="(icon|stylesheet)"[^>]*>/g)!.join('');
  return { all, icon: /rel="icon" href="([^"]+)"/.exec(all)![1]! };
}

/** Sends a page of a few sentences, or with a form, in the portal's style. `title` and `body` are HTML. */
export function sendPage(response: Response, title: string, body: string, httpStatus = 200): void {
  links ??= linksOfPortal();
  response
    .status(httpStatus)
    .set({ 'Cache-Control': 'no-store', 'Content-Security-Policy': smallPagePolicy })
    .type('html').send(`<!doctype html>
<html lang="en">
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${title} · Parcelhook</title>
${links.all}
<main class="login">
<p class="mark"><img src="${links.icon}" alt="">Parcelhook</p>
<h1>${title}</h1>
${body}
</main>
</html>`);
}

/**
 * The portal's addresses besides `/`; each may have one more segment, such as a webhook's id. The script shows what
 * they name.
 */
const places = ['webhooks', 'deliveries', 'shipments', 'tokens', 'doctor', 'recover', 'account', 'inbox'];
const inApi = ['/webhooks', '/deliveries', '/shipments', '/tokens'];
const paths = ['/', ...places.flatMap((place) => [`/${place}`, `/${place}/:id`])];

/** Allows our own files only: no inline script or style, and no string becomes markup (trusted types). */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * The portal's page and what it loads, read on the first request. It comes last: to a browser it responds at every
 * address that nothing else has. `inbox`: whether the development inbox is on;
 * `greeting`: whether the service has printed a link that fills in the log-in; `email`: whether it sends e-mails;
 * `attempts`: how many a delivery gets.
 */
export function portalPages({
  attempts,
  ...has
}: {
  inbox: boolean;
  greeting: boolean;
  email: boolean;
  attempts: number;
}): Router {
  const router = Router({ caseSensitive: true });
  let page: string | undefined;
  let assets: ReturnType<typeof readAssets> | undefined;
  const showPage = (request: Request, response: Response) => {
    response.set('Cache-Control', 'no-store').vary('Accept').vary('Sec-Fetch-Site');
    if (!canHaveSession(request)) return sendPage(response, 'HTTPS is needed', tlsNeeded, 403);
    page ??= Object.entries(has).reduce(
      (text, [name, isOn]) => text.replace(`{{${name}}}`, isOn ? 'on' : 'off'),
      readFileSync(path.join(portalFolder, 'index.html'), 'utf8').replace('{{attempts}}', String(attempts)),
    );
    response.set('Content-Security-Policy', contentSecurityPolicy).type('html').send(page);
  };
  for (const place of paths)
    router
      .route(place)
      .get((request, response, next) => {
        if (!wantsPage(request, place)) return next('router');
        showPage(request, response);
      })
      .all(({ method }) => {
        throw methodNotAllowed(
          'GET, HEAD',
          `The API is under /v1${inApi.includes(place) ? `: ${method} /v1${place}` : '; see /docs'}.`,
        );
      });
  router
    .route('/assets/:file')
    .get((request, response) => {
      assets ??= readAssets();
      const send = assets.get(request.params.file);
      if (!send) throw notFound('This endpoint');
      send(request, response);
    })
    .all(readOnlyRoute);
  // A person who mistyped an address gets the page, which says so; a program gets JSON.
  router.use((request, response, next) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const isOfApi = /^\/(v1|operator)(\/|$)/.test(request.path);
    if (!isRead || isOfApi || !acceptsHtml(request) || !canHaveSession(request)) return next();
    showPage(request, response.status(404));
  });
  return router;
}

/** A program that leaves `/v1` out of `/v1/webhooks` is told in JSON that there is nothing. */
const wantsPage = (request: Request, place: string) =>
  place === '/' ? request.accepts(['html', 'json']) === 'html' : acceptsHtml(request);

const acceptsHtml = (request: Request) => /\btext\/html\b/i.test(request.get('Accept') ?? '');

/** Over plain HTTP from elsewhere browsers send no Sec-Fetch-Site, without which the cookie is refused. */
const canHaveSession = (request: Request): boolean =>
  request.get('Sec-Fetch-Site') !== undefined || isLoopback(request.hostname);

const tlsNeeded = `<p>The portal keeps its session in a cookie, so it works over HTTPS only, or on the service's own machine
at <code>http://localhost</code>.</p>
<p>If you operate this service: put a reverse proxy with a certificate in front of it, and set <code>PUBLIC_URL</code> to
the address that starts with <code>https://</code>.</p>
<p>The API works here as well: see <a href="/docs">the documentation</a>.</p>`;

/**
 * The assets by name: only what was there at the start of the service is served. The names have digests of the
 * contents.
 */
function readAssets(): Map<string, ReturnType<typeof fixedBody>> {
  const read = (name: string) => readFileSync(path.join(portalFolder, 'assets', name));
  const names = readdirSync(path.join(portalFolder, 'assets')).filter((name) => path.extname(name) in types);
  return new Map(
    names.map((name) => [
      name,
      fixedBody({
        type: types[path.extname(name)]!,
        body: read(name),
        gzip: read(`${name}.gz`),
        brotli: read(`${name}.br`),
        headers: { 'Cache-Control': 'public, max-age=31536000, immutable' },
      }),
    ]),
  );
}

interface FixedBody {
  type: string;
  body: Buffer;
  gzip?: Buffer;
  brotli?: Buffer;
  headers: Record<string, string>;
}

/**
 * Sends an unchanging body, compressed as well as the caller accepts; browsers name gzip first. All responses share one
 * buffer per encoding; express responds 304 if the caller has the body already.
 */
function fixedBody({ type, body, gzip = gzipSync(body), brotli, headers }: FixedBody) {
  const encoded = { ...(brotli && { br: brotli }), gzip };
  const etag = `W/"${createHash('sha256').update(body).digest('base64url')}"`; // weak: the same for each encoding
  return (request: Request, response: Response): void => {
    const accepted = request.acceptsEncodings();
    const [encoding, smaller] = Object.entries(encoded).find(([name]) => accepted.includes(name)) ?? [];
    if (encoding !== undefined) response.set('Content-Encoding', encoding);
    response
      .set({ ...headers, ETag: etag })
      .vary('Accept-Encoding')
      .type(type)
      .send(smaller ?? body);
  };
}

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
