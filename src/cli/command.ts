import { createOperatorClient, ParcelhookError, type CallOptions, type Detail } from '../client/index.js';
import { version } from '../platform/version.js';
import { InvalidArgumentError, type AddHelpTextContext, type Command } from 'commander';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import * as z from 'zod';
import { wrapped } from '../client/listen/text.js';
import { facts, widthOf, write, type Data, type Env, type Io } from './terminal.js';

const timeoutMs = 10_000;
const unavailableStatuses = [502, 503, 504]; // a proxy without a service behind it also responds with these

/** `code` is the envelope's status; unset if there was no envelope. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly code?: string,
    readonly error?: { message: string; details?: Detail[] },
  ) {
    super(message);
  }
}

export class Unreachable extends Error {}

interface SendOptions extends CallOptions {
  path?: Record<string, string>;
  query?: object;
  body?: object;
  json?: string;
  repeatable?: boolean;
}

/**
 * Fills the `{names}` of the path. Returns the envelope's `data` for any 2xx, else throws Refused or Unreachable with a
 * message to print unchanged.
 */
export type Send = (
  method: 'get' | 'post' | 'patch' | 'delete',
  path: string,
  options?: SendOptions,
) => Promise<Data>;

function createSend({ url, token }: { url: string; token: string }): Send {
  const { request } = createOperatorClient({ url, token, userAgent: `parcelhook-operator/${version}` });
  return async (method, path, options = {}) => {
    // A user is waiting, so all tries share the time of one.
    const totalTimeoutMs = options.timeoutMs ?? timeoutMs;
    // A DELETE that a retry finds done would be refused.
    const repeatable = method === 'get' || method === 'patch';
    const limited = { timeoutMs, repeatable, ...options, totalTimeoutMs };
    try {
      return await (request as unknown as Send)(method, path, limited);
    } catch (error) {
      throw error instanceof ParcelhookError ? toCliError(withoutQuery(url), error) : error;
    }
  };
}

function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, '');
}

function toCliError(base: string, error: ParcelhookError): Error {
  const { code, status, details } = error;
  const message = withoutFirst(error);
  if (code === 'TIMEOUT') return new Unreachable(message);
  if (code === 'UNREACHABLE') {
    return new Unreachable(`${message.slice(0, -1)}. Is the service running? Check --url or PARCELHOOK_URL.`);
  }
  const isUnexpected = code === 'UNEXPECTED_ANSWER';
  if (isUnexpected && status === null) return new Refused(message);
  if (isUnexpected && status! < 300) return new Refused(`${message} Is --url right?`);
  const said = isUnexpected ? `HTTP ${status}` : `${status} ${code}: ${message}`;
  const text = [`${base} returned ${said}`, ...notes(error, isUnexpected)].join('\n  ');
  if (unavailableStatuses.includes(status ?? 0)) return new Unreachable(text);
  return isUnexpected
    ? new Refused(text)
    : new Refused(text, code, { message, ...(details.length > 0 && { details }) });
}

/** The message without its first detail: all of them are listed below it. */
function withoutFirst({ message, details: [first] }: ParcelhookError): string {
  const end = first ? message.indexOf(`: ${first.path} ${first.message}`) : -1;
  return end === -1 ? message : `${message.slice(0, end)}.`;
}

function notes(
  { status, details, retryAfterMs, requestId }: ParcelhookError,
  isUnexpected: boolean,
): string[] {
  const lines = details.map(({ path, message }) => `${path}: ${message}`);
  if (status === 401)
    lines.push('Check --token or OPERATOR_TOKEN: it must be one that the service was started with.');
  if (isUnexpected) lines.push('Is --url right?');
  if (status === 429 && retryAfterMs !== null)
    lines.push(`retry after: ${Math.ceil(retryAfterMs / 1_000)} s`);
  if (requestId && !isUnexpected) lines.push(`request id: ${requestId}`);
  return lines;
}

type Common = { url?: string; token?: string; json?: true };

export type Request = <Options>(
  call: (send: Send, options: Options) => Promise<Data>,
  format?: (data: Data, width: number) => string,
) => (...given: unknown[]) => Promise<void>;

export const requestWith =
  (io: Io): Request =>
  (call, format = facts) =>
  async (...given) => {
    const command = given.at(-1) as Command;
    const { send, json } = settingsOf(command, io);
    const data = await call(send, command.opts<never>());
    await write(io.stdout, json ? `${JSON.stringify(data, null, 2)}\n` : format(data, widthOf(io)));
  };

/** Reads a list that the options filter: an id's option is named without its `Id`. */
export const listAt =
  (path: string) =>
  (send: Send, { shipper: shipperId, user: userId, webhook: webhookId, event: eventId, ...filters }: Given) =>
    send('get', path, { query: { shipperId, userId, webhookId, eventId, ...filters } });

export function settingsOf(command: Command, { env }: Io): { send: Send; json: boolean } {
  const { url, token, json } = command.optsWithGlobals<Common>();
  const send = createSend({ url: serviceUrl(url, env), token: operatorToken(token, env) });
  return { send, json: json === true };
}

/** As it was called: npm is not there in a container. */
export const programName = ({ npm_lifecycle_event: npmScript }: Env): string =>
  npmScript ? 'npm run operator --' : 'parcelhook operator';

/** `--silent` before a line is npm's: without it, npm prints lines of its own. */
export const example =
  (...lines: string[]) =>
  ({ command }: AddHelpTextContext): string => {
    const width = command.configureOutput().getOutHelpWidth?.() ?? Infinity;
    let program = command;
    while (program.parent) program = program.parent;
    const texts = lines.map((line) => commandLine(program.name(), line, width));
    return `\nExample${lines.length > 1 ? 's' : ''}:\n${texts.join('')}`;
  };

/** Broken only where a shell accepts it: before an option or an operator. */
function commandLine(name: string, line: string, width: number): string {
  const whole = line.replace(/^(--silent )?/, (silent) => `${name.replace('run ', `run ${silent}`)} `);
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
  const token = tokenIn(
    textOf(file, 'Start the service (npm start writes it), or give --token or set OPERATOR_TOKEN.'),
  );
  if (token === undefined) throw new UsageError(`${file} has no OPERATOR_TOKEN. ${howToGiveIt}`);
  return token;
}

function textOf(file: string, remedy = howToGiveIt): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? `${file} does not exist` : `${file} cannot be read (${code})`;
    throw new UsageError(`No operator token: ${why}. ${remedy}`);
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
  const id = text.trim(); // as it is pasted
  if (id === '' || /^\.{1,2}$/.test(id)) throw new InvalidArgumentError('It must be an id.');
  return id;
}

/** The id of what the command is about comes as its argument or by the option: `webhook pause <webhookId>`. */
export function about(command: Command, flags: string, id: string, isNeeded = true): Command {
  const [option] = command
    .argument('[id]', id, idArgument)
    .option(flags, 'the same', idArgument)
    .options.slice(-1);
  return command.hook('preAction', () => {
    const name = option!.attributeName();
    const given = [command.processedArgs[0], command.getOptionValue(name)].filter((one) => one !== undefined);
    if (given.length > 1 || (given.length === 0 && isNeeded))
      throw new UsageError(`Give the ${id} once, with or without ${option!.long}.`);
    command.setOptionValue(name, given[0]);
  });
}

/** `--shipper` and `--id` are the same option, read as `shipper`. */
const shipperFlags = '--id, --shipper <id>';

export const ofShipper = (command: Command): Command => about(command, shipperFlags, 'id of the shipper');

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
