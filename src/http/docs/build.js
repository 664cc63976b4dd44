/** Makes what `/docs` reads from dist: the pages that are written in Markdown, for the image has no `docs`, and the script. */
import { transformSync } from 'esbuild';
import { Marked } from 'marked';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** What the pages are made of, from the root of the checkout. */
export const documents = ['docs/receiving.md', 'docs/runbook.md'];

/**
 * Writes to `<folder>/docs`: `<name>.html`, a page's navigation and text without what stands around them; `verify.html`,
 * how to verify in each language; `search.js`.
 */
export function buildDocs(folder) {
  mkdirSync(path.join(folder, 'docs'), { recursive: true });
  const write = (name, text) => writeFileSync(path.join(folder, 'docs', name), text);
  for (const document of documents)
    write(`${path.basename(document, '.md')}.html`, toHtml(readFileSync(document, 'utf8')));
  write('verify.html', toVerification(readFileSync('docs/receiving.md', 'utf8')));
  const script = readFileSync('src/portal/docs-search.ts', 'utf8');
  write(
    'search.js',
    transformSync(script, { loader: 'ts', format: 'iife', minify: true, target: 'es2022' }).code,
  );
}

/** Headings have the ids that GitHub gives them. */
function toHtml(markdown) {
  const headings = [];
  const marked = createMarked('', {
    heading({ tokens, depth }) {
      const text = this.parser.parseInline(tokens);
      const id = idOf(this.parser.parseInline(tokens, this.parser.textRenderer));
      headings.push({ depth, text, id });
      const heading = depth === 1 ? text : `<a href="#${id}">${text}</a>`;
      return `${depth === 2 ? '</section><section>' : ''}<h${depth} id="${id}">${heading}</h${depth}>\n`;
    },
  });
  const body = marked.parse(markdown);
  const entries = headings.filter(({ depth }) => depth === 2 || depth === 3);
  const links = entries.map(({ depth, id, text }, index) => {
    const inner = (entries[index + 1]?.depth ?? 2) - depth;
    return `<li><a href="#${id}">${breakable(text)}</a>${inner > 0 ? '<ul>' : '</li>'}${inner < 0 ? '</ul></li>' : ''}`;
  });
  const contents = `<nav class="contents" aria-label="Contents"><ul>${links.join('')}</ul></nav>`;
  return `${contents}<main class="prose"><section>${body}</section></main>`;
}

/** An alert's name may break where a word of it ends. */
const breakable = (text) => text.replaceAll(/[a-z](?=[A-Z])/g, '$&<wbr>');

/** The section "Verify" of the document on receiving, for another page; each language is details that open. */
function toVerification(markdown) {
  const marked = createMarked('/docs/receiving');
  const tokens = marked.lexer(markdown);
  const isHeading = ({ type, depth }) => type === 'heading' && depth === 2;
  const start = tokens.findIndex((token) => isHeading(token) && token.text === 'Verify') + 1;
  const section = tokens.slice(
    start,
    tokens.findIndex((token, index) => index > start && isHeading(token)),
  );
  const languages = section.filter(({ type }) => type === 'code');
  const isLanguage = ({ type, text }) => type === 'paragraph' && /^\*\*\w+\*\*$/.test(text);
  const names = section.filter(isLanguage).map(({ text }) => text.replaceAll('*', ''));
  if (start === 0 || names.length < 5 || names.length !== languages.length)
    throw new Error('docs/receiving.md: its section "Verify" has no code in five languages');
  const text = marked.parser(section.filter((token) => token.type !== 'code' && !isLanguage(token)));
  const details = languages.map(
    (code, index) => `<details><summary>${names[index]}</summary>${marked.parser([code])}</details>`,
  );
  return text + details.join('');
}

/**
 * A link to another of these documents or to the one on the API leads to its page, one within a document to `page`. Any other link is its text:
 * nobody serves the checkout's files, and the pages lead nowhere else.
 */
function createMarked(page, renderer = {}) {
  return new Marked({
    renderer: {
      ...renderer,
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const target = pageOf(href, page);
        return target === null ? text : `<a href="${target}">${text}</a>`;
      },
      // The portal is beside the page; a reader of the checkout has it elsewhere.
      codespan: ({ text }) =>
        text === '/doctor' ? `<a href="${text}"><code>${text}</code></a>` : `<code>${escape(text)}</code>`,
      code: ({ text }) => `<pre><code>${escape(text)}</code></pre>\n`,
      html: () => '', // comments
    },
  });
}

/** The address of a link within a document or to another one; null if it is not served. */
function pageOf(href, page) {
  const [file, anchor] = href.split('#');
  const fragment = anchor === undefined ? '' : `#${anchor}`;
  if (file === '') return page + fragment;
  if (file === 'api.md') return anchor === 'logging-in' ? '/docs#logging-in' : '/docs';
  return documents.includes(`docs/${file}`) ? `/docs/${path.basename(file, '.md')}${fragment}` : null;
}

const idOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
