import { nameOf, type OpenApiDocument, type Operation } from '../openapi/schemas.js';

/** A hit of the search: a section of a page, or an operation. */
export interface Section {
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
      text: [`${method.toUpperCase()} ${path}`, ...wordsOf(operation, components.schemas)].join(' '),
    })),
  );
}

/** The name that RapiDoc gives to an operation in its navigation. */
const anchorOf = (method: string, path: string) => `${method}-${path.replaceAll(/[\s#:?&={}]/g, '-')}`;

/** The names of fields, and what is said about them; each schema once. */
function wordsOf(operation: Operation, schemas: OpenApiDocument['components']['schemas']): string[] {
  const seen = new Set<string>();
  const words: string[] = [operation.operationId];
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
  return words;
}

const maxResults = 60;
const excerptLength = 200;

/** Finds the sections that have every word; first those that have them in their title. */
export function search(sections: Section[], query: string) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const having = (field: 'title' | 'text') =>
    sections.filter((section) => words.every((word) => section[field].toLowerCase().includes(word)));
  const found = [...new Set([...having('title'), ...having('text')])].slice(0, maxResults);
  return found.map((section) => ({ ...section, excerpt: excerptOf(section.text, words[0]!) }));
}

function excerptOf(text: string, word: string): string {
  const start = Math.max(0, text.toLowerCase().indexOf(word) - excerptLength / 3);
  const excerpt = text.slice(start, start + excerptLength);
  return `${start > 0 ? '… ' : ''}${excerpt}${start + excerptLength < text.length ? ' …' : ''}`;
}
