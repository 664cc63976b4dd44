import type { z } from 'zod';
import { variables } from '../../src/config/variables.js';

export const page = 'docs/configuration.md';
const marks = ['<!-- made by `npm run config-table` -->\n\n', '\n<!-- end of what is made -->'] as const;

/** A row per variable: its name, its default, its description. */
export const configRows = (): string[][] =>
  Object.entries(variables.shape).map(([name, schema]) => {
    const [meaning = '', unset] = (schema.description ?? '').split(/\.? Unset: /);
    return [`\`${name}\``, unset ?? defaultOf(name, schema), meaning];
  });

function defaultOf(name: string, schema: z.ZodType): string {
  const { type, defaultValue } = schema.def as { type: string; defaultValue?: unknown };
  if (type === 'optional') return 'none';
  if (type === 'prefault' && typeof defaultValue === 'string') return `\`${defaultValue}\``;
  throw new Error(`${name} has no default as written in the environment (prefault)`);
}

export const rowsIn = (page: string): string[][] =>
  tableIn(page)
    .split('\n')
    .slice(2)
    .filter(Boolean)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

export function withTable(page: string): string {
  const rows = [['Variable', 'Default', 'Meaning'], ['---', '---', '---'], ...configRows()];
  const table = rows.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
  return page.replace(tableIn(page), () => table);
}

function tableIn(page: string): string {
  const [, rest = ''] = page.split(marks[0]);
  const [table] = rest.split(marks[1]);
  if (!table) throw new Error(`The page has no table between ${marks.join(' and ')}`);
  return table;
}
