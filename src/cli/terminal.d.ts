import type { Readable, Writable } from 'node:stream';
export type Env = Record<string, string | undefined>;
/** What a command line takes from its process. */
export interface Io {
    env: Env;
    stdin: Readable;
    stdout: Writable;
    stderr: Writable & {
        isTTY?: boolean;
    };
}
/** A file as the caller named it: `npm run` moves to the package's folder first, INIT_CWD is where it was called. */
export declare const callersPath: (file: string, env: Env) => string;
/** Resolves when the text is out; also when nobody reads any more, so that work goes on after `| head`. */
export declare const write: (stream: Writable, text: string) => Promise<void>;
/** The text without what could steer a terminal: control characters but newline and tab become `\u001b`. */
export declare const printable: (text: string) => string;
/** Aligned `name  value` lines; what is nested gets its path as name: `queues.deliver.waiting  3`. */
export declare function aligned(data: object): string;
