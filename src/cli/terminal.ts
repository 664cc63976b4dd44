import { SingleBar } from 'cli-progress';
import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { printable, wrapped } from '../client/listen/text.js';

export type Env = Record<string, string | undefined>;

/** The data of a response. */
export type Data = Record<string, unknown>;

export interface Io {
  env: Env;
  stdin: Readable;
  stdout: Writable & { columns?: number };
  stderr: Writable & { isTTY?: boolean; columns?: number };
}

/** Characters on a line of the terminal, or COLUMNS; without either there is no limit: a program reads the lines. */
export const widthOf = ({ stdout, env }: Io, stream: Io['stdout'] = stdout): number =>
  stream.columns ?? (Number(env.COLUMNS) || Infinity);

/** Commander does not wrap descriptions where fewer characters are left for them; its own default is 40. */
export const minWidthToWrap = 20;

/** `npm run` changes to the package's folder and sets INIT_CWD. */
export const callersPath = (file: string, env: Env): string =>
  resolve((env.npm_lifecycle_event && env.INIT_CWD) || '.', file);

/** Resolves when the text is written, or the reader is gone: work continues after `| head`. */
export const write = (stream: Writable, text: string): Promise<void> =>
  new Promise((done) => stream.write(printable(text), () => done()));

/** A progress bar that is gone when it ends. */
export const newBar = (stream: Writable, format: string): SingleBar =>
  new SingleBar({
    ...{ stream, format, forceRedraw: true, gracefulExit: false, clearOnComplete: true },
    linewrap: true, // changes no terminal mode, so an interrupt leaves nothing to restore
  });

/** Facts of the service, under labels in words: `queues deliver waiting  3`. */
export const facts = (data: object, width = Infinity): string =>
  lined(
    flatten(data, '').map(([path, value]) => [labelOf(path), valueOf(path, value, width)]),
    width,
  );

/** Values under the names that others gave them. The name of a nested value is its path: `evidences.0.by  Ana`. */
export const aligned = (data: object, width = Infinity): string =>
  lined(
    flatten(data, '').map(([path, value]) => [path, textOf(value)]),
    width,
  );

/** Each line of a value begins below its first one: others wrote it, and none may look like a name. */
function lined(rows: [string, string][], width: number): string {
  const nameWidth = Math.max(...rows.map(([name]) => name.length), 0);
  const below = `\n${' '.repeat(nameWidth)}  `;
  const lineOf = ([name, value]: [string, string]) =>
    `${name.padEnd(nameWidth)}  ${value.replaceAll('\n', below)}`;
  return printable(rows.map((row) => `${wrapped(lineOf(row), width)}\n`).join(''));
}

const unit = /(?<=[a-z\d])(?:Second|M)s$/;
/** Labels of the fields for which the rule below would be wrong. */
const named: Record<string, string> = {
  dnsMs: 'DNS',
  tlsMs: 'TLS',
  url: 'link',
  setPasswordUrl: 'password link',
};

/**
 * The field in words: `oldest due` for `oldestDueSeconds`, whose value has the unit, and `limited` for `isLimited`. A
 * shipper has named its headers: `headers X-ApiKey`.
 */
const labelOf = (path: string): string =>
  named[path] ??
  (path.startsWith('headers.')
    ? path.replace('.', ' ')
    : path
        .replace(/^lastAttempt\./, '')
        .replace(unit, '')
        .replace(/(?<=[a-z\d])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
        .replaceAll('.', ' ')
        .replace(/\b(?:is|has) /, ''));

/** The value with its unit; a boolean as yes or no. On a terminal, times are to the second. */
function valueOf(path: string, value: unknown, width: number): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const [unitOfIt] = unit.exec(path) ?? [];
  if (typeof value === 'number' && unitOfIt) return `${value} ${unitOfIt === 'Ms' ? 'ms' : 's'}`;
  return textOf(Number.isFinite(width) ? toSecond(value) : value);
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value == null ? '-' : JSON.stringify(value);

export type Section = [title: string, text: string];

/** Each text under its heading; a heading without a text is left out. */
export const sectionsText = (sections: Section[]): string =>
  sections
    .filter(([, text]) => text !== '')
    .map(([title, text]) => `${title}\n${text.replaceAll(/^(?=.)/gm, '  ')}`)
    .join('\n');

/** The time to the second: `2026-11-21T12:00:00Z`. */
export const toSecond = (value: unknown): unknown =>
  typeof value === 'string'
    ? value.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?\+00:00$/, '$1Z')
    : value;

function flatten(value: object, prefix: string): [string, unknown][] {
  return Object.entries(value).flatMap(([key, child]: [string, unknown]): [string, unknown][] => {
    if (typeof child !== 'object' || child === null) return [[prefix + key, child]];
    return Object.keys(child).length > 0 ? flatten(child, `${prefix}${key}.`) : [[prefix + key, 'none']];
  });
}

/**
 * A table if it fits the width. Otherwise each item takes several lines, with a name before each value and without the
 * empty ones; the first `headColumns` need no name.
 */
export function fitted(rows: Data[], columns: readonly string[], headColumns: number, width: number): string {
  const cells = [
    columns.map(labelOf),
    ...rows.map((row) => columns.map((column) => cell(row, column, width))),
  ];
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => row[index]!.length)));
  const lines = cells.map((row) =>
    row
      .map((text, index) => text.padEnd(widths[index]!))
      .join('  ')
      .trimEnd(),
  );
  return lines.every((line) => line.length <= width)
    ? printable(lines.map((line) => `${line}\n`).join(''))
    : rows.map((row) => packed(row, columns, headColumns, width)).join('');
}

/** The page of a list. `rowOf` says an item as people do; columns that no item fills are left out. */
export const listOf =
  (name: string, columns: readonly string[], headColumns: number, rowOf = (item: Data) => item) =>
  (data: Data, width: number): string => {
    const rows = items(data[name]).map(rowOf);
    const text = rows.length > 0 ? fitted(rows, filledColumns(rows, columns), headColumns, width) : 'none\n';
    return text + (typeof data.nextCursor === 'string' ? `more: --cursor ${data.nextCursor}\n` : '');
  };

function packed(item: unknown, columns: readonly string[], headColumns: number, width: number): string {
  const parts = columns
    .map((column, index) => ({ column, value: cell(item, column, width), isHead: index < headColumns }))
    .filter(({ value, isHead }) => isHead || value !== '-')
    .map(({ column, value, isHead }) => (isHead ? value : `${labelOf(column)} ${value}`));
  const lines = [parts.slice(0, headColumns).join('  ')];
  for (const part of parts.slice(headColumns)) {
    const longer = `${lines.at(-1)}  ${part}`;
    if (lines.length > 1 && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(`  ${part}`);
  }
  return printable(lines.map((line) => `${line}\n`).join(''));
}

export const filledColumns = (rows: Data[], columns: readonly string[]): string[] =>
  columns.filter((column) => rows.some((row) => cell(row, column, Infinity) !== '-'));

/** `actor.name` is the property `name` of `actor`. */
function cell(item: unknown, path: string, width: number): string {
  const found = path
    .split('.')
    .reduce<unknown>((object, key) => (object as Record<string, unknown> | null)?.[key], item);
  if (Array.isArray(found)) return found.join(',') || '-';
  return valueOf(path, found, width).replaceAll(/[\n\t]/g, ' ');
}

/** The rows of a list; none if it is missing. */
export const items = (value: unknown): Data[] => (Array.isArray(value) ? (value as Data[]) : []);

/** The properties that are neither null nor undefined. */
export const known = (value: unknown): Data =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([, each]) => each !== null && each !== undefined));
