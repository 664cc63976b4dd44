import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { Router, type Request, type Response } from 'express';
import { notFound, readOnlyRoute } from '../platform/errors.js';
import { isLoopback } from '../platform/networks.js';
import { packageFolder } from '../platform/version.js';
import { fixedBody } from './fixed-body.js';
import { smallPage } from './small-page.js';

/** Its addresses besides `/`; each may have one more segment, such as a webhook's id. The script shows what they name. */
const places = ['webhooks', 'deliveries', 'shipments', 'doctor', 'recover', 'inbox'];
const paths = ['/', ...places.flatMap((place) => [`/${place}`, `/${place}/:id`])];

/** Issued sources alone: no inline script or style, no string becomes markup (trusted types). */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const folder = path.join(packageFolder, 'dist/portal');
const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * The portal's page and what it loads, read on the first request. It comes last: to a browser it responds at every
 * address that nothing else has. `inbox`: whether the development inbox is on;
 * `greeting`: whether the service has printed a link that fills in the log-in.
 */
export function portalPages({ inbox, greeting }: { inbox: boolean; greeting: boolean }): Router {
  const router = Router({ caseSensitive: true });
  let page: string | undefined;
  let assets: ReturnType<typeof readAssets> | undefined;
  const showPage = (request: Request, response: Response) => {
    response.set('Cache-Control', 'no-store').vary('Accept').vary('Sec-Fetch-Site');
    if (!canHaveSession(request)) return void response.status(403).send(tlsNeeded);
    page ??= readFileSync(path.join(folder, 'index.html'), 'utf8')
      .replace('{{inbox}}', inbox ? 'on' : 'off')
      .replace('{{greeting}}', greeting ? 'on' : 'off');
    response.set('Content-Security-Policy', contentSecurityPolicy).type('html').send(page);
  };
  for (const place of paths)
    router
      .route(place)
      .get((request, response, next) => {
        if (!wantsPage(request, place)) return next('router');
        showPage(request, response);
      })
      .all(readOnlyRoute);
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

const tlsNeeded = smallPage(
  'HTTPS is needed',
  `<p>The portal keeps its session in a cookie, so it works over HTTPS only, or on the service's own machine at
<code>http://localhost</code>.</p>
<p>If you operate this service: put a reverse proxy with a certificate in front of it, and set <code>PUBLIC_URL</code> to
the address that starts with <code>https://</code>.</p>
<p>The API works here as well: see <a href="/docs">the documentation</a>.</p>`,
);

/**
 * The assets by name: only what was there at the start of the service is served. The names have digests of the
 * contents.
 */
function readAssets(): Map<string, ReturnType<typeof fixedBody>> {
  const read = (name: string) => readFileSync(path.join(folder, 'assets', name));
  const names = readdirSync(path.join(folder, 'assets')).filter((name) => path.extname(name) in types);
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
