const markup = Symbol('markup');

/** Text that is HTML; `html` and `trusted` make it and nothing else does. */
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

/** For text that is HTML or CSS by our own hand. */
export const trusted = (text: string): Html => ({ [markup]: text });

/**
 * A template of HTML. Whatever is put into it is escaped, unless it is HTML itself; false and undefined are nothing.
 * Line breaks of the template itself count as one space.
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

/** What descriptions are written in: paragraphs, and code in backticks. */
export const prose = (text: string): Html[] =>
  text
    .trim()
    .split(/\n\s*\n/)
    .map((paragraph) => html`<p>${phrase(paragraph)}</p>`);

/** One line of a description. */
export const phrase = (text: string): Html[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
