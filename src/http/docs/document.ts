import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageFolder } from '../../version.js';
import { html, toText, trusted } from './html.js';
import { policyFor } from './page.js';
import { style } from './style.js';

/** A written page has lists of steps and headings within a section; the page of the API has neither. */
const proseStyle = `${style}
h3 { margin-top: 2.25rem }
h2 a { color: inherit }
li { margin: .35rem 0; max-width: 44rem }
pre { margin: .75rem 0; max-width: 60rem }
li pre code { background: none; padding: 0; overflow-wrap: normal }
nav ul ul a { overflow-wrap: anywhere }
table { margin: .75rem 0; max-width: 60rem }
`;

/** `docs/<name>.md` as a page: the build has made its text (`build.js`), this puts the style around it. */
export function renderDocument(name: string, title: string): { page: string; contentSecurityPolicy: string } {
  const text = readFileSync(path.join(packageFolder, `dist/docs/${name}.html`), 'utf8');
  const page = html`<!doctype html>
    <html lang="en">
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width" />
      <meta name="color-scheme" content="light dark" />
      <title>${title}</title>
      ${trusted(`<style>${proseStyle}</style>`)} ${trusted(text)}
    </html>`;
  return { page: toText(page), contentSecurityPolicy: policyFor(proseStyle) };
}
