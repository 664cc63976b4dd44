import type { Command } from 'commander';
import type { Data } from './request.js';
/** Adds the options of a command that shows one page of a list. */
export declare const paged: (command: Command) => Command;
/** The options of these names. */
export declare const pick: (options: Record<string, string | undefined>, names: readonly string[]) => Record<string, string | undefined>;
/** A path with those of the options that are given as its query. */
export declare function withQuery(path: string, options: Record<string, string | number | undefined>): string;
/** Shows the list of that name as a table with one line for each item, and how to get the next page. */
export declare const tableOf: (name: string, columns: readonly string[]) => (data: Data) => string;
