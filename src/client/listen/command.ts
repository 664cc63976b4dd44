import type { Readable, Writable } from 'node:stream';
import { version } from '../api/generated.js';
import { createClient } from '../client.js';
import { isPassing, ParcelhookError } from '../errors.js';
import { listen } from './listen.js';
import { readOptions, UsageError, type Env } from './options.js';
import { askPassword } from './password.js';
import { createJsonPrinter, createPrinter } from './print.js';
import { onEndSignals } from './signals.js';

/** What a command line takes from its process. */
export interface Io {
  env: Env;
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable;
  stderr: Writable;
}

const exitCode = { done: 0, refused: 1, usage: 2, unavailable: 69 }; // 69: EX_UNAVAILABLE of sysexits.h

const help = `Usage: parcelhook listen --forward <url> [options]

Forwards the notifications of an account to a server on your own machine: signed, in order, each once.
It runs until Ctrl-C, registers no webhook and leaves nothing behind.

Options:
  --forward <url>      where notifications go, such as http://localhost:3000/hook
  --url <url>          address of the service (default: PARCELHOOK_URL, else http://localhost:8080)
  --key <key>          account key (default: PARCELHOOK_KEY)
  --email <email>      of a user (default: PARCELHOOK_EMAIL)
  --password <text>    better in PARCELHOOK_PASSWORD; prompted for if neither is set
  --interests <names>  only these states, by commas (default: all)
  --since <time>       from then on: 10m, 2h, 1d ago, or a time such as 2026-11-21T12:00:00Z (default: from now)
  --secret <secret>    whsec_… to sign with (default: a new one, which is printed)
  --json               print one JSON object a line
  -h, --help           show this

Exit codes: 0 ended by Ctrl-C, 1 refused by the service, 2 wrong usage, 69 service not reachable,
130 ended by a second Ctrl-C, which waits for nothing.
`;

/** Runs one command line, given without its name, until the signal. Answers the exit code; errors go to `io.stderr`. */
async function runListen(args: string[], io: Io, signal: AbortSignal): Promise<number> {
  try {
    const options = readOptions(args, io.env);
    if (!options) {
      io.stdout.write(help);
      return exitCode.done;
    }
    const password = options.password ?? (await passwordFrom(io, signal));
    if (password === null) return exitCode.done;
    if (password === '') throw new UsageError('The password is empty.');
    const { url, key, email, json } = options;
    const client = createClient({ url, key, email, password, userAgent: `parcelhook-listen/${version}` });
    const printer = (json ? createJsonPrinter : createPrinter)((text) => void io.stdout.write(text));
    await listen(client, options, printer, signal);
    return exitCode.done;
  } catch (error) {
    io.stderr.write(`${wordsOf(error)}\n`);
    if (error instanceof UsageError) return exitCode.usage;
    return isPassing(error) ? exitCode.unavailable : exitCode.refused;
  }
}

function passwordFrom(io: Io, signal: AbortSignal): Promise<string | null> {
  if (io.stdin.isTTY) return askPassword(io.stdin, io.stderr, signal);
  throw new UsageError('Set PARCELHOOK_PASSWORD: there is no terminal to ask on.');
}

function wordsOf(error: unknown): string {
  if (!(error instanceof ParcelhookError)) return error instanceof Error ? error.message : String(error);
  const { code, status, message, details, requestId } = error;
  const notes = [
    ...details.map(({ path, message: problem }) => `${path}: ${problem}`),
    ...(status === 401 ? ['Are key, e-mail address and password right?'] : []),
    ...(code === 'UNREACHABLE' ? ['Is the service running, and --url or PARCELHOOK_URL right?'] : []),
    ...(requestId === null ? [] : [`request id: ${requestId}`]),
  ];
  return [status === null ? message : `${status} ${code}: ${message}`, ...notes].join('\n  ');
}

/** The whole program, in this process: until Ctrl-C, SIGTERM, or until nobody reads what it prints; at a second Ctrl-C at once. */
export async function listenHere(args: string[]): Promise<never> {
  const stop = new AbortController();
  onEndSignals(
    process,
    () => stop.abort(),
    (code) => process.exit(code),
  );
  process.stdout.on('error', () => stop.abort());
  const code = await runListen(args, process, stop.signal);
  // A login under way would keep the process for a while.
  return new Promise(() => process.stdout.write('', () => process.exit(code)));
}
