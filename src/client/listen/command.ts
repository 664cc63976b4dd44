import type { EventEmitter } from 'node:events';
import { createInterface } from 'node:readline';
import { Writable, type Readable } from 'node:stream';
import { version } from '../api/generated.js';
import { createClient, type Client } from '../client.js';
import { isTransient, ParcelhookError } from '../errors.js';
import { listen } from './listen.js';
import { readOptions, UsageError, type Env, type ListenAccount } from './options.js';
import { createJsonPrinter, createPrinter } from './print.js';
import { helpWidth, printable, wrapped } from './text.js';

export interface Io {
  env: Env;
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { columns?: number };
  stderr: Writable;
}

const exitCode = { done: 0, refused: 1, usage: 2, unavailable: 69 }; // 69: EX_UNAVAILABLE of sysexits.h

const purpose = [
  "Forwards an account's notifications to a server on your own machine: signed, in order, each once.",
  'It runs until Ctrl-C, registers no webhook and leaves nothing behind. If the server refuses one with 400, 401 or',
  '403, it says why as far as it can tell, each cause once.',
];

const options = {
  '--forward <url>': 'where to send notifications, such as http://localhost:3000/hook',
  '--url <url>': 'address of the service (default: PARCELHOOK_URL, else http://localhost:8080)',
  '--token <token>':
    'of a program, with the scope read; preferably set PARCELHOOK_TOKEN instead. Without one, the next three log in as a user',
  '--key <key>': 'account key (default: PARCELHOOK_KEY)',
  '--email <email>': 'e-mail address of a user (default: PARCELHOOK_EMAIL)',
  '--password <text>': 'preferably set PARCELHOOK_PASSWORD instead; prompted for if neither is given',
  '--interests <names>': 'only these states, separated by commas (default: all)',
  '--since <time>':
    'start this long ago (10m, 2h, 1d) or at a time: 2026-11-21T12:00:00Z, 2026-11-21 (its midnight UTC) or milliseconds since 1970 (default: now)',
  '--secret <secret>':
    'whsec_… that your server verifies with, to sign with (default: WEBHOOK_SECRET, else a new one, which is printed)',
  '--json': 'print one JSON object per line',
  '-h, --help': 'show this help',
};

const help = `Usage: parcelhook listen --forward <url> [options]

${purpose.join(' ')}

Options:
${Object.entries(options)
  .map(([name, description]) => `  ${name.padEnd(19)}  ${description}\n`)
  .join('')}
Exit codes: 0 ended by Ctrl-C, 1 refused by the service, 2 wrong usage, 69 service not reachable, 130 ended at once by a second Ctrl-C.
`;

/** The `listen` program. Runs until Ctrl-C, SIGTERM, or the reader of its output is gone; a second Ctrl-C exits at once. */
export async function runListen(args: string[]): Promise<never> {
  const stop = new AbortController();
  onEndSignals(
    process,
    () => stop.abort(),
    (code) => process.exit(code),
  );
  process.stdout.on('error', () => stop.abort());
  const code = await runCommandLine(args, process, stop.signal);
  // Exits after the output is written. Otherwise a pending login would delay the end.
  return new Promise(() => process.stdout.write('', () => process.exit(code)));
}

/** npm forwards a Ctrl-C that the terminal has already sent to the whole group: the same one may arrive twice. */
const sameSignalMs = 500;

/** Calls `stop` at the first SIGINT or SIGTERM, and `exit` at a later one. */
export function onEndSignals(from: EventEmitter, stop: () => void, exit: (code: number) => void): void {
  let firstAtMs: number | null = null;
  const onSignal = (_name: string, number: number) => {
    if (firstAtMs !== null && performance.now() - firstAtMs > sameSignalMs) exit(128 + number);
    firstAtMs ??= performance.now();
    stop();
  };
  for (const name of ['SIGINT', 'SIGTERM']) from.on(name, onSignal);
}

/** Runs one command line (without its name) until the signal. Returns the exit code and writes errors to `io.stderr`. */
async function runCommandLine(args: string[], io: Io, signal: AbortSignal): Promise<number> {
  try {
    const options = readOptions(args, io.env);
    if (!options) {
      io.stdout.write(wrapped(help, helpWidth(io.stdout, io.env)));
      return exitCode.done;
    }
    const { url, json } = options;
    const account = await credentialsOf(options.account, io, signal);
    if (account === null) return exitCode.done;
    const client = createClient({ url, ...account, userAgent: `parcelhook-listen/${version}` });
    const printer = (json ? createJsonPrinter : createPrinter)((text) => void io.stdout.write(text));
    const warn = (text: string) => void io.stderr.write(printable(`${text}\n`));
    if (options.interests) void warnOfUnknownStates(client, options.interests, warn, signal);
    await listen(client, options, printer, signal);
    return exitCode.done;
  } catch (error) {
    io.stderr.write(printable(`${errorText(error)}\n`));
    if (error instanceof UsageError) return exitCode.usage;
    return isTransient(error) ? exitCode.unavailable : exitCode.refused;
  }
}

/** An unknown state is no error, since it may be added later. If the states cannot be read, listening says why. */
async function warnOfUnknownStates(
  client: Pick<Client, 'states'>,
  interests: ReadonlySet<string>,
  warn: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    const known = (await client.states({ signal })).states.map(({ state }) => state);
    const unknown = [...interests].filter((name) => !known.includes(name));
    if (unknown.length > 0)
      warn(`Warning: this service has no state ${unknown.join(', ')}; its states are ${known.join(', ')}.`);
  } catch {
    return;
  }
}

/** Null if the user ends it instead of typing a password. */
async function credentialsOf(account: ListenAccount, io: Io, signal: AbortSignal) {
  if ('token' in account) return account;
  const password = account.password ?? (await promptedPassword(io, signal));
  if (password === '') throw new UsageError('The password is empty.');
  return password === null ? null : { ...account, password };
}

function promptedPassword(io: Io, signal: AbortSignal): Promise<string | null> {
  if (io.stdin.isTTY) return askPassword(io.stdin, io.stderr, signal);
  throw new UsageError('Set PARCELHOOK_PASSWORD: there is no terminal to prompt on.');
}

/** Prompts for a password without echo. Returns null at Ctrl-C, Ctrl-D, or the signal. */
export async function askPassword(
  stdin: Readable,
  stderr: Writable,
  signal: AbortSignal,
): Promise<string | null> {
  stderr.write('Password: ');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal: true, signal });
  try {
    return await new Promise((resolve) => {
      lines.once('line', resolve);
      lines.once('SIGINT', () => resolve(null));
      lines.once('close', () => resolve(null));
    });
  } finally {
    lines.close();
    stderr.write('\n');
  }
}

function errorText(error: unknown): string {
  if (!(error instanceof ParcelhookError)) return error instanceof Error ? error.message : String(error);
  const { code, status, message, details, requestId } = error;
  const notes = [
    ...details.slice(1).map(({ path, message: problem }) => `${path}: ${problem}`), // the message has the first
    ...(status === 401 ? ['Check the token, or the key, e-mail address and password.'] : []),
    ...(code === 'UNREACHABLE' ? ['Is the service running? Check --url or PARCELHOOK_URL.'] : []),
    ...(requestId === null ? [] : [`request id: ${requestId}`]),
  ];
  return [status === null ? message : `${status} ${code}: ${message}`, ...notes].join('\n  ');
}
