import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Response } from 'express';
import { packageFolder } from '../platform/version.js';

export const portalFolder = path.join(packageFolder, 'dist/portal');

/** A small page loads the portal's style and icon, and runs nothing. */
const contentSecurityPolicy =
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
    .set({ 'Cache-Control': 'no-store', 'Content-Security-Policy': contentSecurityPolicy })
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
