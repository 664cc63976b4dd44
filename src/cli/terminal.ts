import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { printable } from '../client/listen/print.js';
import type { Data } from './client.js';

export type Env = Record<string, string | undefined>;

export interface Io {
  env: Env;
  stdin: Readable;
  stdout: Writable & { columns?: number };
  stderr: Writable & { isTTY?: boolean };
}

/** Characters on a line of the terminal, or COLUMNS; without either there is no limit: a program reads the lines. */
export const widthOf = ({ stdout, env }: Io): number => stdout.columns ?? (Number(env.COLUMNS) || Infinity);

/** `npm run` changes to the package's folder and sets INIT_CWD. */
export const callersPath = (file: string, env: Env): string =>
  resolve((env.npm_lifecycle_event && env.INIT_CWD) || '.', file);

/** Resolves when the text is written, or the reader is gone: work continues after `| head`. */
export const write = (stream: Writable, text: string): Promise<void> =>
  new Promise((done) => stream.write(printable(text), () => done()));

/** The name of a nested value is its path: `queues.deliver.waiting  3`. */
export function aligned(data: object): string {
  const rows = flatten(data, '');
  const width = Math.max(...rows.map(([name]) => name.length), 0);
  return printable(rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join(''));
}

function flatten(value: object, prefix: string): [string, string][] {
  return Object.entries(value).flatMap(([key, child]: [string, unknown]): [string, string][] => {
    if (typeof child === 'object' && child !== null) {
      return Object.keys(child).length > 0 ? flatten(child, `${prefix}${key}.`) : [[prefix + key, 'none']];
    }
    return [[prefix + key, typeof child === 'string' ? child : child == null ? '-' : JSON.stringify(child)]];
  });
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

/** The rows of a list; none if it is missing. */
export const items = (value: unknown): Data[] => (Array.isArray(value) ? (value as Data[]) : []);
