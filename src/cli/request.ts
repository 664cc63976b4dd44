import type { Command } from 'commander';
import { createClient, type OperatorClient } from './client.js';
import { operatorToken, serviceUrl } from './options.js';
import { aligned, write, type Io } from './terminal.js';

type Common = { url?: string; token?: string; json?: true };

export type Data = Record<string, unknown>;

/** Makes a command's action of the request it stands for: sends it and prints its answer, for people by `format`. */
export type Request = <Options>(
  call: (client: OperatorClient, options: Options) => Promise<Data>,
  format?: (data: Data) => string,
) => (options: Options, command: Command) => Promise<void>;

export const requestWith =
  (io: Io): Request =>
  (call, format = aligned) =>
  async (options, command) => {
    const { client, json } = settingsOf(command, io);
    const data = await call(client, options);
    await write(io.stdout, json ? `${JSON.stringify(data, null, 2)}\n` : format(data));
  };

/** What the options of every command say. */
export function settingsOf(command: Command, { env }: Io): { client: OperatorClient; json: boolean } {
  const { url, token, json } = command.optsWithGlobals<Common>();
  const client = createClient({ url: serviceUrl(url, env), token: operatorToken(token, env) });
  return { client, json: json === true };
}

export const example = (line: string) => `\nExample:\n  npm run operator -- ${line}\n`;
