import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageFolder } from '../../platform/version.js';
import { html, toText, trusted, type Html } from './html.js';
import { style } from './style.js';

/** Every page links to these, and to the portal at `/`. */
const pages = [
  ['/docs', 'API'],
  ['/docs/receiving', 'Receiving'],
  ['/docs/operator', 'Operator'],
  ['/docs/runbook', 'Runbook'],
] as const;

export interface Page {
  path: (typeof pages)[number][0];
  title: string;
  /** The navigation within the page, and the text. */
  content: Html;
  /** For the pages of operations. */
  search?: boolean;
}

export interface RenderedPage {
  page: string;
  contentSecurityPolicy: string;
}

/** A page with the links to the others. It loads nothing; the policy allows its own style and script alone. */
export function renderPage({ path: current, title, content, search = false }: Page): RenderedPage {
  const script = search ? readBuilt('search.js') : undefined;
  const page = html`<!doctype html>
    <html lang="en">
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width" />
      <meta name="color-scheme" content="light dark" />
      <title>${title} · Parcelhook</title>
      ${trusted(`<style>${style}</style>`)}
      <header>
        <nav aria-label="Pages">
          <ul>
            <li><a href="/">Portal</a></li>
            ${pages.map(
              ([address, name]) =>
                html`<li>
                  <a href="${address}" ${address === current && trusted('aria-current="page"')}>${name}</a>
                </li>`,
            )}
          </ul>
        </nav>
        ${search && searchBox}
      </header>
      ${content} ${script !== undefined && trusted(`<script>${script}</script>`)}
    </html>`;
  return { page: toText(page), contentSecurityPolicy: policyFor(script) };
}

/** Shown by the script: without it the page is a plain list. */
const searchBox = html`<div role="search" hidden>
  <label for="search">Search</label>
  <input
    type="search"
    id="search"
    aria-describedby="found"
    aria-keyshortcuts="/"
    placeholder="Press / to search"
    autocomplete="off"
    spellcheck="false"
  />
  <span id="found" role="status"></span>
</div>`;

function policyFor(script: string | undefined): string {
  return [
    "default-src 'none'",
    `style-src '${digest(style)}'`,
    ...(script === undefined ? [] : [`script-src '${digest(script)}'`]),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

const digest = (text: string) => `sha256-${createHash('sha256').update(text).digest('base64')}`;

/** A file that `build.js` has made. */
export const readBuilt = (file: string): string =>
  readFileSync(path.join(packageFolder, 'dist/docs', file), 'utf8');
