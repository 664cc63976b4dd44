import type { Command } from 'commander';
import { createInterface } from 'node:readline/promises';
import { createClient, type OperatorClient } from './client.js';
import { operatorToken, serviceUrl, UsageError } from './options.js';
import { aligned, write, type Io } from './terminal.js';

type Common = { url?: string; token?: string; json?: true };

export type Data = Record<string, unknown>;

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

export function settingsOf(command: Command, { env }: Io): { client: OperatorClient; json: boolean } {
  const { url, token, json } = command.optsWithGlobals<Common>();
  const client = createClient({ url: serviceUrl(url, env), token: operatorToken(token, env) });
  return { client, json: json === true };
}

export const example = (line: string) => `\nExample:\n  npm run operator -- ${line}\n`;

export const yesOption = ['--yes', 'do not ask for confirmation'] as const;

/** Asks unless `yes` is given. Throws a UsageError unless the user types y or yes. */
export async function confirm(io: Io, question: string, yes: boolean | undefined): Promise<void> {
  if (yes) return;
  await write(io.stderr, `${question} [y/N] `);
  const lines = createInterface({ input: io.stdin });
  try {
    for await (const line of lines) {
      if (/^y(es)?$/i.test(line.trim())) return;
      break;
    }
  } finally {
    lines.close();
  }
  throw new UsageError('Nothing was done. Type y to confirm, or pass --yes.');
}
