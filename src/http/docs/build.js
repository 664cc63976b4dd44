/** Makes the pages below `/docs` that are written in Markdown, for the image has no `docs`. */
import { Marked } from 'marked';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** What the pages are made of, from the root of the checkout. */
export const documents = ['docs/api.md', 'docs/receiving.md', 'docs/runbook.md'];

/** Writes `<folder>/docs/<name>.html`: a page's navigation and text, without what stands around them. */
export function buildDocs(folder) {
  mkdirSync(path.join(folder, 'docs'), { recursive: true });
  for (const document of documents)
    writeFileSync(
      path.join(folder, 'docs', `${path.basename(document, '.md')}.html`),
      toHtml(readFileSync(document, 'utf8')),
    );
}

/** Headings have the ids that GitHub gives them. */
function toHtml(markdown) {
  const headings = [];
  const marked = createMarked({
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

/**
 * A link to another of these documents leads to its page. Any other link is its text:
 * nobody serves the checkout's files, and the pages lead nowhere else.
 */
function createMarked(renderer) {
  return new Marked({
    renderer: {
      ...renderer,
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const target = pageOf(href);
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
function pageOf(href) {
  const [file, anchor] = href.split('#');
  const fragment = anchor === undefined ? '' : `#${anchor}`;
  if (file === '') return fragment;
  return documents.includes(`docs/${file}`) ? `/docs/${path.basename(file, '.md')}${fragment}` : null;
}

const idOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
