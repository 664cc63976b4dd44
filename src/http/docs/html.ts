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

/** Marks HTML or CSS that is written by hand, so that it is not escaped. */
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
