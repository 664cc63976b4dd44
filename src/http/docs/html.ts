const markup = Symbol('markup');

/** HTML text; only `html` and `trusted` create it. */
export interface Html {
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

/** For hand-written HTML or CSS. */
export const trusted = (text: string): Html => ({ [markup]: text });

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

/** Renders a description: paragraphs, and code in backticks. */
export const prose = (text: string): Html[] =>
  text
    .trim()
    .split(/\n\s*\n/)
    .map((paragraph) => html`<p>${phrase(paragraph)}</p>`);

/** One line of a description. */
export const phrase = (text: string): Html[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));

export const code = (text: string): Html => html`<pre><code>${text}</code></pre>`;

export const json = (value: unknown): Html => code(JSON.stringify(value, null, 2));

export const statusBadge = (httpStatus: string): Html =>
  html`<b class="status ${httpStatus.startsWith('2') ? 'good' : 'bad'}">${httpStatus}</b>`;

/**
 * Details that open. The id is inside, so that a link to it opens them without a script: browsers reveal what a link
 * leads to.
 */
export const entry = (id: string, summary: Html, details: Html | Html[]): Html =>
  html`<details class="entry">
    <summary>${summary}</summary>
    <div id="${id}">${details}</div>
  </details>`;
