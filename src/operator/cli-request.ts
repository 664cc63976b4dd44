import type { Command } from 'commander';
import type { OperatorClient } from './client.js';

export type Data = Record<string, unknown>;

/** Makes a command's action of the request it stands for: sends it and prints its answer. */
export type Request = <Options>(
  call: (client: OperatorClient, options: Options) => Promise<Data>,
) => (options: Options, command: Command) => Promise<void>;
