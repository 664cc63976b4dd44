import { InvalidArgumentError, type AddHelpTextContext, type Command } from 'commander';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import * as z from 'zod';
import { wrapped } from '../client/listen/text.js';
import { createSend, type Data, type Send } from './client.js';
import { aligned, widthOf, write, type Env, type Io } from './terminal.js';

type Common = { url?: string; token?: string; json?: true };

export type Request = <Options>(
  call: (send: Send, options: Options) => Promise<Data>,
  format?: (data: Data) => string,
) => (options: Options, command: Command) => Promise<void>;

export const requestWith =
  (io: Io): Request =>
  (call, format = (data) => aligned(data, widthOf(io))) =>
  async (options, command) => {
    const { send, json } = settingsOf(command, io);
    const data = await call(send, options);
    await write(io.stdout, json ? `${JSON.stringify(data, null, 2)}\n` : format(data));
  };

export function settingsOf(command: Command, { env }: Io): { send: Send; json: boolean } {
  const { url, token, json } = command.optsWithGlobals<Common>();
  const send = createSend({ url: serviceUrl(url, env), token: operatorToken(token, env) });
  return { send, json: json === true };
}

/** `--silent` before a line is npm's: without it, npm prints lines of its own. */
export const example =
  (...lines: string[]) =>
  ({ command }: AddHelpTextContext): string => {
    const width = command.configureOutput().getOutHelpWidth?.() ?? Infinity;
    return `\nExample${lines.length > 1 ? 's' : ''}:\n${lines.map((line) => commandLine(line, width)).join('')}`;
  };

/** Broken only where a shell accepts it: before an option or an operator. */
function commandLine(line: string, width: number): string {
  const whole = line.replace(/^(--silent )?/, (silent) => `npm run ${silent}operator -- `);
  const inOnePiece = whole.replace(/ (?!--|[>|&])/g, '\0');
  const lines = wrapped(inOnePiece, width - '    '.length - ' \\'.length).split('\n');
  return `  ${lines.join(' \\\n    ').replaceAll('\0', ' ')}\n`;
}

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

/** The options of a command as typed in. */
export type Given = Record<string, string | undefined>;

/** The message says what would be right. Exit code 2. */
export class UsageError extends Error {}

function serviceUrl(given: string | undefined, env: Env): string {
  const port = env.PORT && env.PORT !== '0' ? env.PORT : '8080';
  const url = given ?? (env.PARCELHOOK_URL || `http://localhost:${port}`);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UsageError(`${url} is not a service URL such as http://localhost:8080`);
  }
  return url;
}

/** `--token`, else OPERATOR_TOKEN, else the file of OPERATOR_TOKEN_FILE, else what embedded mode wrote under DATA_DIR. */
function operatorToken(given: string | undefined, env: Env): string {
  const token = (given ?? (env.OPERATOR_TOKEN || tokenFromFile(env))).trim();
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new UsageError('The operator token must be printable ASCII without spaces.');
  }
  return token;
}

const howToGiveIt = 'Give --token or set OPERATOR_TOKEN.';

function tokenFromFile(env: Env): string {
  if (env.OPERATOR_TOKEN_FILE) return textOf(env.OPERATOR_TOKEN_FILE);
  const file = join(env.DATA_DIR || 'data', 'secrets.json');
  const token = tokenIn(textOf(file));
  if (token === undefined) throw new UsageError(`${file} has no OPERATOR_TOKEN. ${howToGiveIt}`);
  return token;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? `${file} does not exist` : `${file} cannot be read (${code})`;
    throw new UsageError(`No operator token: ${why}. ${howToGiveIt}`);
  }
}

function tokenIn(text: string): string | undefined {
  try {
    const { OPERATOR_TOKEN: token } = JSON.parse(text) as { OPERATOR_TOKEN?: unknown };
    return typeof token === 'string' && token ? token : undefined;
  } catch {
    return undefined;
  }
}

/** Dots would be resolved by the URL; an empty id would be another endpoint. */
export function idArgument(text: string): string {
  if (text === '' || /^\.{1,2}$/.test(text)) throw new InvalidArgumentError('It must be an id.');
  return text;
}

/** `--shipper` and `--id` are the same option, read as `shipper`. */
const shipperFlags = '--id, --shipper <id>';

export const ofShipper = (command: Command): Command =>
  command.requiredOption(shipperFlags, 'id of the shipper', idArgument);

export const shipperOption = (command: Command, description: string): Command =>
  command.option(shipperFlags, description, idArgument);

/** The service's own rule, so that nothing is done before it refuses the address. */
export function emailArgument(text: string): string {
  if (text.length > 254 || !z.regexes.email.test(text))
    throw new InvalidArgumentError('It must be an e-mail address, such as you@example.com.');
  return text;
}

export function wholeNumberArgument(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

export function numberArgument(text: string): number {
  const number = text.trim() === '' ? NaN : Number(text);
  if (!Number.isFinite(number)) throw new InvalidArgumentError('It must be a number.');
  return number;
}

export function jsonArgument(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('It must be JSON.');
  }
}

export const paged = (command: Command): Command =>
  command
    .option('--limit <number>', 'maximum number of lines, 1 to 250 (default: 50)', wholeNumberArgument)
    .option('--cursor <cursor>', 'continue after the previous page');

export const inTime = (command: Command, what: string): Command =>
  command
    .option('--from <time>', `only ${what} at this time or later, such as 2026-11-21T12:00:00Z or 2026-11-21`)
    .option('--to <time>', `only ${what} before this time`);
