import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { readFileSync } from 'node:fs';
import { callersPath, printable } from '../cli/terminal.js';
import { startReceiver, type Received } from './server.js';

interface Options {
  port: number;
  secret: string[];
  secretFile?: string;
  status: number;
  delay: number;
  json?: true;
}

const help = `
WEBHOOK_SECRET adds secrets, separated by spaces or commas. All of them are tried.

Examples:
  npm run receiver -- --secret whsec_…
  npm run receiver -- --port 9000 --secret-file webhook.json   the response to creating a webhook; may be written later
  npm run receiver -- --status 500                             to see retries
  npm run --silent receiver -- --json | jq .body.state
`;

const integer = (min: number, max: number) => (text: string) => {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (number < min || number > max) throw new InvalidArgumentError(`It must be from ${min} to ${max}.`);
  return number;
};

function secretsArgument(text: string, previous: string[]): string[] {
  try {
    return [...previous, ...parseSecrets(text)];
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

const signatureTexts = {
  VERIFIED: 'signature verified',
  WRONG: 'signature WRONG',
  NOT_CHECKED: 'no secret given: signature not checked',
};

function describe({ signature, problem, body, ...notification }: Received): string {
  const { state, trackingId, webhookId, attempt, sequence } = notification;
  const lines = [
    `${state ?? '(no state)'}  ${trackingId ?? '(no tracking id)'}  ${signatureTexts[signature]}${problem ? `: ${problem}` : ''}`,
    `  webhook-id ${webhookId ?? '-'}  attempt ${attempt ?? '-'}  sequence ${sequence ?? '-'}`,
    `  ${typeof body === 'string' ? body : JSON.stringify(body)}`,
  ];
  return printable(`${new Date().toISOString()}  ${lines.join('\n')}\n\n`);
}

/** npm forwards a Ctrl-C that the terminal has already sent to the whole group: the same one may arrive twice. */
const sameSignalMs = 100;

async function receive(options: Options): Promise<void> {
  const { json, secretFile } = options;
  const fixed = [...options.secret, ...secretsArgument(process.env.WEBHOOK_SECRET ?? '', [])];
  const file = secretFile === undefined ? undefined : callersPath(secretFile, process.env);
  const counts = { VERIFIED: 0, WRONG: 0, NOT_CHECKED: 0 };
  const print = (text: string) => void (json ? process.stderr : process.stdout).write(text);

  const receiver = await startReceiver({
    port: options.port,
    httpStatus: options.status,
    delayMs: options.delay,
    secrets() {
      try {
        return file === undefined ? fixed : [...fixed, ...secretsInFile(file)];
      } catch (error) {
        process.stderr.write(`The secret file cannot be read: ${(error as Error).message}\n`);
        return fixed;
      }
    },
    onNotification(notification) {
      counts[notification.signature]++;
      const line = { receivedAt: new Date().toISOString(), ...notification };
      process.stdout.write(json ? `${JSON.stringify(line)}\n` : describe(notification));
    },
  });
  print(`Waiting for notifications at http://127.0.0.1:${receiver.port}/ (Ctrl-C stops it)\n\n`);

  let isStopping = false;
  const stop = () => {
    if (isStopping) return;
    isStopping = true;
    receiver.close();
    const { VERIFIED, WRONG, NOT_CHECKED } = counts;
    const total = VERIFIED + WRONG + NOT_CHECKED;
    print(`\nNotifications: ${total} (verified ${VERIFIED}, wrong ${WRONG}, not checked ${NOT_CHECKED})\n`);
    process.exitCode = 0;
    // An ending process has no signal handlers: the second Ctrl-C would kill it.
    setTimeout(() => undefined, sameSignalMs);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
}

export async function runReceiver(args: string[]): Promise<void> {
  process.stdout.on('error', () => process.exit(0));
  try {
    await new Command('parcelhook receiver')
      .description('Prints every notification that arrives and whether its signature verifies.')
      .option('--port <port>', 'port on 127.0.0.1; 0 takes any free one', integer(0, 65_535), 9_000)
      .option('--secret <secret>', 'secret of the webhook; can be repeated', secretsArgument, [])
      .option(
        '--secret-file <file>',
        'file with secrets, read again for each notification; may be created later',
      )
      .option('--status <code>', 'HTTP status of every response', integer(200, 599), 200)
      .option('--delay <ms>', 'milliseconds to wait before each response', integer(0, 3_600_000), 0)
      .option('--json', 'print one JSON object per line')
      .addHelpText('after', help)
      .exitOverride()
      .action(receive)
      .parseAsync(args, { from: 'user' });
  } catch (error) {
    const { code, port } = error as NodeJS.ErrnoException & { port?: number };
    if (error instanceof InvalidArgumentError) process.stderr.write(`WEBHOOK_SECRET: ${error.message}\n`);
    else if (code === 'EADDRINUSE')
      process.stderr.write(`Port ${port} is in use: choose another one with --port.\n`);
    else if (!(error instanceof CommanderError)) process.stderr.write(`${(error as Error).message}\n`);
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else process.exitCode = 1;
  }
}

/** Separated by spaces or commas. Throws if one is malformed. */
function parseSecrets(text: string): string[] {
  const secrets = text.split(/[\s,]+/).filter(Boolean);
  for (const secret of secrets) {
    if (!/^(whsec_)?[A-Za-z0-9+/]{2,}={0,2}$/.test(secret)) {
      throw new Error('A webhook secret is whsec_ followed by Base64.');
    }
  }
  return secrets;
}

/** The file can be the unchanged response to creating a webhook or rotating its secret. None if there is no file. */
function secretsInFile(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').match(/whsec_[A-Za-z0-9+/]{2,}={0,2}/g) ?? [];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
