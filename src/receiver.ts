/** A sample receiver: prints every notification that arrives and whether its signature verifies. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { existsSync, readFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { callersPath, minWidthToWrap, write } from './cli/terminal.js';
import { verify } from './client/index.js';
import { helpWidth } from './client/listen/text.js';

const secretsIn = (text: string): string[] => text.match(/whsec_[A-Za-z0-9+/]{2,}={0,2}/g) ?? [];

function secretArgument(text: string): string[] {
  const secrets = secretsIn(text);
  if (secrets.length === 0) throw new InvalidArgumentError('A webhook secret is whsec_ followed by Base64.');
  return secrets;
}

const integer = (min: number, max: number) => (text: string) => {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (number < min || number > max) throw new InvalidArgumentError(`It must be from ${min} to ${max}.`);
  return number;
};

function verdict(headers: http.IncomingHttpHeaders, rawBody: Buffer, secrets: string[]): string {
  if (secrets.length === 0) return 'no secret given: signature not checked';
  try {
    verify(headers, rawBody, secrets);
    return 'signature verified';
  } catch (error) {
    return `signature WRONG: ${(error as Error).message}`;
  }
}

type Options = { port: number; secret: string[]; secretFile?: string; status: number; delay: number };

async function receive({ port, secret, secretFile, status, delay }: Options): Promise<void> {
  const file = secretFile === undefined ? '' : callersPath(secretFile, process.env);
  const server = http.createServer((request, response) => {
    const { headers } = request;
    const print = (rawBody: Buffer) => {
      const secrets = [...secret, ...(existsSync(file) ? secretsIn(readFileSync(file, 'utf8')) : [])];
      const about = ['webhook-id', 'parcelhook-sequence', 'parcelhook-attempt']
        .map((name) => `${name} ${String(headers[name] ?? '-')}`)
        .join('  ');
      const lines = [verdict(headers, rawBody, secrets), about, rawBody.toString()].join('\n  ');
      void write(process.stdout, `${new Date().toISOString()}  ${lines}\n\n`);
    };
    buffer(request)
      .then(print)
      .then(() => sleep(delay))
      .then(
        () => response.writeHead(status).end(),
        (error: Error) => {
          process.stderr.write(`${error.message}\n`);
          response.destroy();
        },
      );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  process.stdout.write(`Waiting for notifications at ${at} (Ctrl-C stops it)\n\n`);
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0));
}

export async function runReceiver(args: string[]): Promise<void> {
  try {
    await new Command('parcelhook receiver')
      .description('Prints every notification that arrives and whether its signature verifies.')
      .option('--port <port>', 'port on 127.0.0.1; 0 takes any free one', integer(0, 65_535), 9_000)
      .addOption(
        new Option('--secret <secret>', 'secrets of the webhook')
          .env('WEBHOOK_SECRET')
          .argParser(secretArgument)
          .default([], 'none'),
      )
      .option(
        '--secret-file <file>',
        'file with secrets, such as the response to creating a webhook; may be created later',
      )
      .option('--status <code>', 'HTTP status of every response', integer(200, 599), 200)
      .option('--delay <ms>', 'milliseconds to wait before each response', integer(0, 3_600_000), 0)
      .configureHelp({ minWidthToWrap })
      .configureOutput({ getOutHelpWidth: () => helpWidth(process.stdout, process.env) })
      .exitOverride()
      .action(receive)
      .parseAsync(args, { from: 'user' });
  } catch (error) {
    const { code, port } = error as { code?: string; port?: number };
    if (error instanceof CommanderError) process.exitCode = error.exitCode && 2;
    else if (code !== 'EADDRINUSE') throw error;
    else {
      process.stderr.write(`Port ${port} is in use: choose another one with --port.\n`);
      process.exitCode = 1;
    }
  }
}
