import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';

export type Env = Record<string, string | undefined>;

/** What a command line takes from its process. */
export interface Io {
  env: Env;
  stdin: Readable;
  stdout: Writable;
  stderr: Writable & { isTTY?: boolean };
}

/** A file as the caller named it: `npm run` moves to the package's folder first, INIT_CWD is where it was called. */
export const callersPath = (file: string, env: Env): string =>
  resolve((env.npm_lifecycle_event && env.INIT_CWD) || '.', file);

/** Resolves when the text is out; also when nobody reads any more, so that work goes on after `| head`. */
export const write = (stream: Writable, text: string): Promise<void> =>
  new Promise((done) => stream.write(text, () => done()));

/** The text without what could steer a terminal: control characters but newline and tab become `\u001b`. */
export const printable = (text: string): string =>
  text.replace(/[^\P{Cc}\n\t]/gu, (character) => {
    const code = character.charCodeAt(0).toString(16);
    return `\\u${code.padStart(4, '0')}`;
  });

/** Aligned `name  value` lines; what is nested gets its path as name: `queues.deliver.waiting  3`. */
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
