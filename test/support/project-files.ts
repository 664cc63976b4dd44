import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';

const root = new URL('../../', import.meta.url);
export const readTracked = (path: string): string => readFileSync(new URL(path, root), 'utf8');
export const readYaml = <T>(path: string): T => parse(readTracked(path), { merge: true }) as T;

export const writeTracked = (path: string, text: string): void => writeFileSync(new URL(path, root), text);

/** The code in a section of a document, up to the next heading of the same rank. Throws if there is no such heading. */
export function codeBlocks(heading: string, path = 'README.md'): { language: string; code: string }[] {
  const text = `${readTracked(path)}\n## `;
  const start = text.search(new RegExp(`^#+ ${heading}$`, 'm'));
  if (start < 0) throw new Error(`${path} has no heading "${heading}"`);
  const rank = /^#+/.exec(text.slice(start))![0];
  const length = text.slice(start + rank.length).search(new RegExp(`^#{2,${rank.length}} `, 'm'));
  const section = text.slice(start, start + rank.length + length);
  return [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, code]) => ({
    language: language!,
    code: code!,
  }));
}
