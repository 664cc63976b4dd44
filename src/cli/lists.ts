import type { Command } from 'commander';
import { wholeNumberArgument } from './options.js';
import type { Data } from './request.js';
import { aligned, printable } from './terminal.js';

export const paged = (command: Command): Command =>
  command
    .option('--limit <number>', 'maximum number of lines, 1 to 250 (default: 50)', wholeNumberArgument)
    .option('--cursor <cursor>', 'continue after the previous page');

export const pick = (
  options: Record<string, string | undefined>,
  names: readonly string[],
): Record<string, string | undefined> => Object.fromEntries(names.map((name) => [name, options[name]]));

export function withQuery(path: string, options: Record<string, string | number | undefined>): string {
  const given = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

export const tableOf =
  (name: string, columns: readonly string[]) =>
  (data: Data): string => {
    const items = data[name];
    if (!Array.isArray(items)) return aligned(data);
    const rows = [columns, ...items.map((item) => columns.map((column) => cell(item, column)))];
    const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index]!.length)));
    const lines = rows.map((row) =>
      row
        .map((text, index) => text.padEnd(widths[index]!))
        .join('  ')
        .trimEnd(),
    );
    const more = typeof data.nextCursor === 'string' ? [`more: --cursor ${data.nextCursor}`] : [];
    return printable([...lines, ...more].map((line) => `${line}\n`).join(''));
  };

interface Fitted {
  name: string;
  columns: readonly string[];
  headColumns: number;
  width: number;
}

/**
 * A table if it fits the width. A last column that is a name is cut to make it fit; otherwise each item takes several
 * lines, with a name before each value and without the empty ones.
 */
export const fitted =
  ({ name, columns, headColumns, width }: Fitted) =>
  (data: Data): string => {
    if (Array.isArray(data[name]) && data[name].length === 0) return 'none\n';
    const table = tableOf(name, columns)(data);
    const lines = table.split('\n').filter((line) => !line.startsWith('more: '));
    const items = data[name];
    if (!Array.isArray(items) || lines.every((line) => line.length <= width)) return table;
    const cuttable = lines[0]!.length <= width && columns.at(-1) === 'name';
    if (cuttable)
      return table.replace(/^.+$/gm, (line) =>
        line.length <= width ? line : `${line.slice(0, width - 1)}…`,
      );
    const more = table.match(/^more: .*\n/m) ?? [];
    return [...items.map((item) => packed(item, columns, headColumns, width)), ...more].join('');
  };

function packed(item: unknown, columns: readonly string[], headColumns: number, width: number): string {
  const parts = columns
    .map((column, index) => ({ column, value: cell(item, column), isHead: index < headColumns }))
    .filter(({ value, isHead }) => isHead || value !== '-')
    .map(({ column, value, isHead }) => (isHead ? value : `${column} ${value}`));
  const lines = [parts.slice(0, headColumns).join('  ')];
  for (const part of parts.slice(headColumns)) {
    const longer = `${lines.at(-1)}  ${part}`;
    if (lines.length > 1 && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(`  ${part}`);
  }
  return printable(lines.map((line) => `${line}\n`).join(''));
}

export const filledColumns = (data: Data, name: string, columns: readonly string[]): string[] => {
  const items = data[name];
  return columns.filter(
    (column) => !Array.isArray(items) || items.some((item) => cell(item, column) !== '-'),
  );
};

/** `actor.name` is the property `name` of `actor`. */
function cell(item: unknown, path: string): string {
  const value = path
    .split('.')
    .reduce<unknown>((object, key) => (object as Record<string, unknown> | null)?.[key], item);
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value)) return value.join(',') || '-';
  return typeof value === 'string' ? value.replaceAll(/[\n\t]/g, ' ') : JSON.stringify(value);
}
