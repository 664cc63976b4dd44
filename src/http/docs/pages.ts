import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { packageFolder } from '../../platform/version.js';
import { type OpenApiDocument, nameOf, type Operation } from '../openapi/schemas.js';
import { forPage } from './curl.js';
import { style } from './style.js';

/** Every page links to these, and to the portal at `/`. */
const pages = [
  ['/docs', 'Reference'],
  ['/docs/api', 'Using the API'],
  ['/docs/receiving', 'Receiving'],
  ['/docs/runbook', 'Runbook'],
] as const;

export interface RenderedPage {
  page: string;
  contentSecurityPolicy: string;
}

const policyOf = (directives: Record<string, string>) =>
  Object.entries({
    'default-src': "'none'",
    'style-src': `'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    'base-uri': "'none'",
    'form-action': "'self'",
    'frame-ancestors': "'none'",
    'require-trusted-types-for': "'script'",
    'trusted-types': "'none'",
    ...directives,
  })
    .map((directive) => directive.join(' '))
    .join('; ');

/** Such a page loads nothing and runs nothing. */
const ofText = policyOf({});

/**
 * RapiDoc makes style elements, and its templates their one policy of trusted types. It may load nothing: the document is
 * in the page, so that no code in it can call the API with the portal's session.
 */
const ofReference = policyOf({
  'script-src': "'self'",
  'style-src': "'unsafe-inline'",
  'img-src': 'data:',
  'trusted-types': 'lit-html',
});

interface Page {
  address: string;
  title: string;
  content: Html;
  query?: string;
}

const renderPage = ({ address: current, title, content, query = '' }: Page): string =>
  toText(
    html`<!doctype html>
      <html lang="en">
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Parcelhook</title>
        ${trusted(`<style>${style}</style>`)}
        <header>
          <a class="brand" href="/">Parcelhook</a>
          <nav aria-label="Pages">
            <ul>
              ${pages.map(
                ([address, name]) =>
                  html`<li>
                    <a href="${address}" ${address === current && trusted('aria-current="page"')}>${name}</a>
                  </li>`,
              )}
              <li><a href="/">Portal</a></li>
            </ul>
          </nav>
          <form role="search" action="/docs/search">
            <input
              type="search"
              name="q"
              value="${query}"
              aria-label="Search all pages"
              placeholder="Search all pages"
            />
            <button>Search</button>
          </form>
        </header>
        ${content}
      </html>`,
  );

/** `/docs`: RapiDoc with the document. `baseUrl` is where the commands send requests. */
export function renderReference(document: OpenApiDocument, baseUrl: string): RenderedPage {
  const script = readdirSync(path.join(packageFolder, 'dist/portal/assets')).find((name) =>
    /^docs-\w+\.js$/.test(name),
  )!;
  // RapiDoc fails on null in `example`, but not in `examples`.
  const withExamples = (key: string, value: unknown) => {
    if (key !== 'application/json') return value;
    const { example, ...content } = value as { example?: unknown };
    return example === undefined ? value : { ...content, examples: { Example: { value: example } } };
  };
  const data = JSON.stringify(forPage(document, baseUrl), withExamples).replaceAll('<', '\\u003c');
  const content = html`<div class="reference">
      <rapi-doc
        show-header="false"
        allow-try="false"
        allow-authentication="false"
        allow-server-selection="false"
        allow-advanced-search="false"
        allow-spec-file-download="false"
        load-fonts="false"
        regular-font="system-ui, sans-serif"
        mono-font="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"
        font-size="large"
        schema-style="table"
        schema-description-expanded="true"
        default-schema-tab="schema"
        show-method-in-nav-bar="as-colored-text"
        nav-item-spacing="compact"
        scroll-behavior="auto"
      ></rapi-doc>
      <noscript
        >The reference needs JavaScript. The same is in <a href="/openapi.json">openapi.json</a>.</noscript
      >
    </div>
    ${trusted(`<script type="application/json" id="document">${data}</script>`)}
    <script type="module" src="/assets/${script}"></script>`;
  return {
    page: renderPage({ address: '/docs', title: 'API', content }),
    contentSecurityPolicy: ofReference,
  };
}

/** The pages made of Markdown, whose text `build.js` has made. */
export const writtenPages = {
  '/docs/api': 'The API for shippers',
  '/docs/receiving': 'Receiving notifications',
  '/docs/runbook': 'Runbook',
};

const readBuilt = (address: string) =>
  readFileSync(path.join(packageFolder, 'dist', `${address}.html`), 'utf8');

export const renderWritten = (address: keyof typeof writtenPages): RenderedPage => ({
  page: renderPage({ address, title: writtenPages[address], content: trusted(readBuilt(address)) }),
  contentSecurityPolicy: ofText,
});

/** The written pages, which the search goes through besides the operations: address and text. */
export const readWritten = (): [string, string][] =>
  Object.keys(writtenPages).map((address) => [address, readBuilt(address)]);

/** `/docs/search`: every section and operation that has all words of the query. */
export function renderResults(sections: Section[], query: string): RenderedPage {
  const results = search(sections, query);
  const content = html`<main class="prose">
    <h1>Search</h1>
    <p role="status">
      ${query === '' ? 'Type what you are looking for.' : results.length === 0 ? 'Nothing found.' : `${results.length} found.`}
    </p>
    <ul class="results">
      ${results.map(
        ({ address, title, about, excerpt }) =>
          html`<li>
            <a href="${address}">${title}</a> <small>${about}</small>
            <p>${excerpt}</p>
          </li>`,
      )}
    </ul>
  </main>`;
  return {
    page: renderPage({ address: '/docs/search', title: 'Search', content, query }),
    contentSecurityPolicy: ofText,
  };
}

const markup = Symbol('markup');

/** HTML text; only `html` and `trusted` create it. */
interface Html {
  [markup]: string;
}

type Part = Html | Html[] | string | number | false | undefined;

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Marks HTML or CSS that is written by hand, so that it is not escaped. */
const trusted = (text: string): Html => ({ [markup]: text });

/**
 * A template of HTML. Values are escaped unless they are Html; false and undefined render as nothing. Line breaks in
 * the template become one space.
 */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  trusted(String.raw({ raw: strings.map((text) => text.replace(/\s*\n\s*/g, ' ')) }, ...parts.map(render)));

function render(part: Part): string {
  if (part === undefined || part === false) return '';
  if (Array.isArray(part)) return part.map(toText).join('');
  if (typeof part === 'object') return toText(part);
  return String(part).replace(/[&<>"']/g, (character) => entities[character]!);
}

export const toText = (page: Html): string => page[markup];

/** A hit of the search: a section of a page, or an operation. */
interface Section {
  address: string;
  title: string;
  /** The page that it is on, or its method and path. */
  about: string;
  text: string;
}

/** The sections of a page that `build.js` has made. */
export const sectionsOf = (address: string, page: string): Section[] =>
  page
    .slice(page.indexOf('<main'))
    .split(/(?=<h[1-3] id=")/)
    .flatMap((part) => {
      const [, id, title] = /^<h[1-3] id="([^"]*)">(.*?)<\/h/.exec(part) ?? [];
      if (id === undefined) return [];
      return [{ address: `${address}#${id}`, title: plain(title!), about: address, text: plain(part) }];
    });

const characters: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
const plain = (text: string) =>
  text
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => characters[name]!)
    .replaceAll(/\s+/g, ' ')
    .trim();

export function operationSections({ paths, webhooks, components }: OpenApiDocument): Section[] {
  return Object.entries({ ...paths, ...webhooks }).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      address: `/docs#${anchorOf(method, path)}`,
      title: operation.summary,
      about: `${method.toUpperCase()} ${path}`,
      text: [...wordsOf(operation, components.schemas), `${method.toUpperCase()} ${path}`]
        .join(' ')
        .replaceAll('`', ''),
    })),
  );
}

/** The name that RapiDoc gives to an operation in its navigation. */
const anchorOf = (method: string, path: string) => `${method}-${path.replaceAll(/[\s#:?&={}]/g, '-')}`;

/** The names of fields, and what is said about them; each schema once. */
function wordsOf(operation: Operation, schemas: OpenApiDocument['components']['schemas']): string[] {
  const seen = new Set<string>();
  const words: string[] = [];
  const collect = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key === '$ref' && !seen.has(inner as string)) {
        seen.add(inner as string);
        collect(schemas[nameOf(inner as string)]);
      } else if (['description', 'name'].includes(key) && typeof inner === 'string') words.push(inner);
      else if (key === 'enum') words.push((inner as unknown[]).join(' '));
      else if (key !== 'example' && key !== 'examples') {
        if (key === 'properties') words.push(...Object.keys(inner as object));
        collect(inner);
      }
    }
  };
  collect(operation);
  return [...words, operation.operationId]; // what it says comes first, and begins an excerpt
}

const maxResults = 60;
const excerptLength = 200;

/** Finds the sections that have every word; first those that have them in their title. */
function search(sections: Section[], query: string) {
  const words = [...new Set(query.toLowerCase().split(/\s+/).filter(Boolean))];
  if (words.length === 0) return [];
  const having = (field: 'title' | 'text') =>
    sections.filter((section) => {
      const text = section[field].toLowerCase();
      return words.every((word) => text.includes(word));
    });
  const found = [...new Set([...having('title'), ...having('text')])].slice(0, maxResults);
  return found.map((section) => ({ ...section, excerpt: excerptOf(section.text, words[0]!) }));
}

function excerptOf(text: string, word: string): string {
  const start = Math.max(0, text.toLowerCase().indexOf(word) - excerptLength / 3);
  const excerpt = text.slice(start, start + excerptLength);
  return `${start > 0 ? '… ' : ''}${excerpt}${start + excerptLength < text.length ? ' …' : ''}`;
}
