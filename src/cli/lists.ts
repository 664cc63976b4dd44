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

/** One line per item, and the option for the next page. */
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

/** `actor.name` is the property `name` of `actor`. */
function cell(item: unknown, path: string): string {
  const value = path
    .split('.')
    .reduce<unknown>((object, key) => (object as Record<string, unknown> | null)?.[key], item);
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value)) return value.join(',') || '-';
  return typeof value === 'string' ? value.replaceAll(/[\n\t]/g, ' ') : JSON.stringify(value);
}
