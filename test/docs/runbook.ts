import { readFileSync } from 'node:fs';

const file = new URL('../../docs/runbook.md', import.meta.url);

export interface Block {
  /** The nearest heading of the second or third rank above it. */
  heading: string;
  language: string;
  code: string;
}

/** The sections whose commands drop and replace a database: restore-drill.test.ts runs them. */
export const drills = ['Restore from a dump', 'Restore from a base backup'];

export const runbook = readFileSync(file, 'utf8');

export const blocks: Block[] = blocksOf(runbook);

/** Every block of code of a document. */
export function blocksOf(text: string): Block[] {
  const found: Block[] = [];
  let heading = '';
  const parts = /^#{2,3} (.+)$|^( *)```(\S*)\n([\s\S]*?)^\2```$/gm;
  for (const [, title, indent, language, code] of text.matchAll(parts)) {
    if (title !== undefined) heading = title;
    else
      found.push({
        heading,
        language: language!,
        code: code!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      });
  }
  return found;
}

export const commandsOf = ({ code }: Block): string[] =>
  code
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '');

/** The functions that commands use, as "Set up your shell" defines them: with npm, then with Docker. */
const functions = blocks.filter(({ code }) => code.startsWith('operator()')).map(({ code }) => code);

/** A command as it can be run: once, or with the functions of each form. */
export const inEachForm = (command: string): string[] =>
  /^(operator|logs|redis) /.test(command) ? functions.map((defined) => `${defined}${command}`) : [command];

/** The commands, by blocks. Throws where there is none. */
export function commandsUnder(heading: string): string[][] {
  const own = blocks.filter((block) => block.heading === heading && block.language === 'sh');
  if (own.length === 0) throw new Error(`docs/runbook.md has no commands under "${heading}"`);
  return own.map(commandsOf);
}
