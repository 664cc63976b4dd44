import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';

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

/**
 * Control characters, except newline and tab, could steer a terminal, and marks of direction change the order in which
 * it shows a text: `\u001b`. JSON stays the same JSON.
 */
export const printable = (text: string): string =>
  text.replace(/[^\P{Cc}\n\t]|\p{Bidi_Control}/gu, (character) => {
    const code = character.charCodeAt(0).toString(16);
    return `\\u${code.padStart(4, '0')}`;
  });

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
