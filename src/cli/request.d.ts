import type { Command } from 'commander';
import { type OperatorClient } from './client.js';
import { type Io } from './terminal.js';
export type Data = Record<string, unknown>;
/** Makes a command's action of the request it stands for: sends it and prints its answer, for people by `format`. */
export type Request = <Options>(call: (client: OperatorClient, options: Options) => Promise<Data>, format?: (data: Data) => string) => (options: Options, command: Command) => Promise<void>;
export declare const requestWith: (io: Io) => Request;
/** What the options of every command say. */
export declare function settingsOf(command: Command, { env }: Io): {
    client: OperatorClient;
    json: boolean;
};
export declare const example: (line: string) => string;
