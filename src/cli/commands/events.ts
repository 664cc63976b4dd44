import type { Command } from 'commander';
import { open } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import {
  Refused,
  Unreachable,
  type Send,
  UsageError,
  about,
  example,
  jsonArgument,
  numberArgument,
  settingsOf,
  wholeNumberArgument,
  type Request,
} from '../command.js';
import { loadEvents, type LineResult } from './load.js';
import { wrapped } from '../../client/listen/text.js';
import { aligned, callersPath, newBar, widthOf, write, type Io } from '../terminal.js';

export function addEventCommands(
  program: Command,
  request: Request,
  io: Io,
  finish: (code: number) => void,
): void {
  const event = program.command('event').description('state events of shipments');
  about(event.command('send'), '--tracking-id <id>', 'tracking id of the shipment')
    .description('report that a shipment reached a state')
    .requiredOption('--state <state>', 'such as PICKED_UP, IN_TRANSIT, DELIVERED')
    .option('--event-id <id>', 'your own id for the event; makes it safe to send the event again')
    .option(
      '--timestamp <ms>',
      'when it happened, in milliseconds since 1970 (default: now)',
      wholeNumberArgument,
    )
    .option('--lat <degrees>', 'latitude', numberArgument)
    .option('--lng <degrees>', 'longitude', numberArgument)
    .option('--anomalies <json>', 'any JSON value', jsonArgument)
    .option('--evidences <json>', 'a JSON array', jsonArgument)
    .addHelpText('after', example('event send <trackingId> --state PICKED_UP --lat 19.4 --lng -99.1'))
    .action(
      request((send, { trackingId, ...body }: { trackingId: string; eventId?: string }) =>
        send('post', '/operator/v1/shipments/{trackingId}/events', {
          path: { trackingId },
          body,
          repeatable: Boolean(body.eventId),
        }),
      ),
    );
  event
    .command('load')
    .description(
      'report many events: one JSON object per line, with trackingId and state, and as needed eventId, timestamp, lat, lng, anomalies and evidences',
    )
    .argument('<file>', 'file with one event per line; - for standard input')
    .addHelpText('after', example('event load events.ndjson'))
    .addHelpText('after', `A line of the file:\n  ${sampleLine}\n`)
    .action(async (file: string, _options: object, command: Command) => {
      finish(await loadFile(file, io, settingsOf(command, io)));
    });
}

const sampleLine = '{"trackingId":"PH123","state":"LOST","eventId":"scan-77"}';

/**
 * Reports each bad line and refused event, then the counts. With `json`, streams one document: `{results: [{line,
 * eventId} or {line, error}], read, recorded, refused}`. The exit code is 1 if any line was refused.
 */
async function loadFile(
  file: string,
  io: Io,
  { send, json }: { send: Send; json: boolean },
): Promise<number> {
  const source = await openSource(file, io);
  const counts = { read: 0, recorded: 0, refused: 0 };
  let lastLine = 0;
  const progress = startProgress(io.stderr, source.sizeBytes, ['recorded', 'refused']);

  async function report(result: LineResult) {
    lastLine = result.line;
    if (json) await write(io.stdout, `${counts.read > 0 ? ',\n' : '\n'}    ${JSON.stringify(result)}`);
    counts.read++;
    if ('eventId' in result) return void counts.recorded++;
    counts.refused++;
    progress.clear();
    const shipment = result.trackingId === undefined ? '' : `${result.trackingId}: `;
    const text = `line ${result.line}: ${shipment}${describe(result.error)}\n`;
    await write(io.stderr, wrapped(text, widthOf(io, io.stderr)));
  }

  if (json) await write(io.stdout, '{\n  "results": [');
  try {
    await loadEvents({
      send,
      chunks: source.chunks,
      report,
      onProgress: (doneBytes) => progress.update(doneBytes, counts),
    });
  } catch (error) {
    throw withAdvice(error, lastLine);
  } finally {
    progress.stop();
    const rest = Object.entries(counts).map(([name, count]) => `"${name}": ${count}`);
    if (json) await write(io.stdout, `\n  ],\n  ${rest.join(', ')}\n}\n`);
    else await write(io.stdout, aligned(counts));
  }
  return counts.refused > 0 ? 1 : 0;
}

function describe({
  status,
  message,
  details = [],
}: Extract<LineResult, { error: unknown }>['error']): string {
  const fields = details.map((detail) => `${detail.path}: ${detail.message}`).join('; ');
  const text = fields ? `${message.replace(/; see details\.$/, '')} (${fields})` : message;
  return `${status === 'INVALID_LINE' ? '' : `${status}: `}${text}`;
}

function withAdvice(error: unknown, lastLine: number): unknown {
  if (!(error instanceof Refused || error instanceof Unreachable)) return error;
  const done = lastLine === 0 ? 'No line' : `Nothing after line ${lastLine}`;
  error.message += `\n${done} is confirmed. Events with an eventId can be loaded again safely.`;
  return error;
}

interface Progress {
  update(doneBytes: number, counts: object): void;
  /** The bar reappears below the next line of text. */
  clear(): void;
  stop(): void;
}

const none: Progress = { update: () => {}, clear: () => {}, stop: () => {} };

/** Shows only counts if the size is unknown, and nothing if the stream is not a terminal. */
export function startProgress(
  stream: Writable & { isTTY?: boolean },
  sizeBytes: number | null,
  counted: string[],
): Progress {
  if (!stream.isTTY) return none;
  const counts = counted.map((name) => `{${name}} ${name}`).join(', ');
  const bar = newBar(
    stream,
    sizeBytes === null ? counts : `{bar} {percentage} %  ${counts}  {eta_formatted} left`,
  );
  bar.start(sizeBytes ?? 1, 0, Object.fromEntries(counted.map((name) => [name, 0])));
  return {
    update: (doneBytes, payload) =>
      sizeBytes === null ? bar.update(payload) : bar.update(doneBytes, payload),
    clear: () => void stream.write('\r\u001b[K'),
    stop: () => bar.stop(),
  };
}

export async function openSource(
  file: string,
  io: Io,
): Promise<{ chunks: AsyncIterable<Buffer>; sizeBytes: number | null }> {
  if (file === '-') return { chunks: io.stdin, sizeBytes: null };
  try {
    const handle = await open(callersPath(file, io.env));
    const stat = await handle.stat();
    if (stat.isDirectory()) {
      await handle.close();
      throw new UsageError(`${file} is a folder, not a file.`);
    }
    return { chunks: readable(file, handle.createReadStream()), sizeBytes: stat.isFile() ? stat.size : null };
  } catch (error) {
    throw error instanceof UsageError ? error : unreadable(file, error);
  }
}

async function* readable(file: string, stream: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) yield chunk as Buffer;
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): UsageError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new UsageError(`${file} cannot be read: ${code === 'ENOENT' ? 'there is no such file' : message}.`);
}
