import { SingleBar } from 'cli-progress';
import { open } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { Refused, Unreachable, type OperatorClient } from '../client.js';
import { loadEvents, type LineResult } from './load.js';
import { UsageError } from '../options.js';
import { aligned, callersPath, write, type Io } from '../terminal.js';

export interface LoadFileDependencies {
  client: OperatorClient;
  json: boolean;
  io: Io;
  /** Writes an error's text. */
  say(text: string): Promise<void>;
}

/**
 * `event load`: reports each bad line and each refused event as it comes, then the counts. With `json` one
 * document goes out while the file is read: `{results: [{line, eventId} or {line, error}], read, recorded, refused}`.
 * Answers the exit code: 1 if any line was refused.
 */
export async function loadFile(
  file: string,
  { client, json, io, say }: LoadFileDependencies,
): Promise<number> {
  const source = await openSource(file, io);
  const counts = { read: 0, recorded: 0, refused: 0 };
  let lastLine = 0;
  const progress = startProgress(io.stderr, source.sizeBytes);

  async function report(result: LineResult) {
    lastLine = result.line;
    if (json) await write(io.stdout, `${counts.read > 0 ? ',\n' : '\n'}    ${JSON.stringify(result)}`);
    counts.read++;
    if ('eventId' in result) return void counts.recorded++;
    counts.refused++;
    progress.clear();
    await say(`line ${result.line}: ${describe(result.error)}\n`);
  }

  if (json) await write(io.stdout, '{\n  "results": [');
  try {
    await loadEvents({
      client,
      chunks: source.chunks,
      report,
      onProgress: (readBytes) => progress.update(readBytes, counts),
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
  return `${status === 'INVALID_LINE' ? '' : `${status}: `}${message}${fields && ` (${fields})`}`;
}

/** The error with what the caller needs to know to go on: which lines it leaves open. */
function withAdvice(error: unknown, lastLine: number): unknown {
  if (!(error instanceof Refused || error instanceof Unreachable)) return error;
  const done = lastLine === 0 ? 'No line' : `Nothing after line ${lastLine}`;
  error.message += `\n${done} is confirmed. Events that have an eventId can be loaded again without harm.`;
  return error;
}

interface Progress {
  update(readBytes: number, counts: object): void;
  /** Makes room for a line of text; the bar comes back below it. */
  clear(): void;
  stop(): void;
}

const none: Progress = { update: () => {}, clear: () => {}, stop: () => {} };

/** A bar of bytes read, with counts. Nothing where the stream is not a terminal. Unknown size: counts only. */
function startProgress(stream: Writable & { isTTY?: boolean }, sizeBytes: number | null): Progress {
  if (!stream.isTTY) return none;
  const counts = '{recorded} recorded, {refused} refused';
  const bar = new SingleBar({
    stream,
    format: sizeBytes === null ? counts : `{bar} {percentage} %  ${counts}  {eta_formatted} left`,
    forceRedraw: true,
    linewrap: true, // nothing to set back if an interrupt ends the program
    gracefulExit: false,
    clearOnComplete: true,
  });
  bar.start(sizeBytes ?? 1, 0, { recorded: 0, refused: 0 });
  return {
    update: (readBytes, payload) =>
      sizeBytes === null ? bar.update(payload) : bar.update(readBytes, payload),
    clear: () => void stream.write('\r\u001b[K'),
    stop: () => bar.stop(),
  };
}

async function openSource(
  file: string,
  io: Io,
): Promise<{ chunks: AsyncIterable<Buffer>; sizeBytes: number | null }> {
  if (file === '-') return { chunks: io.stdin, sizeBytes: null };
  try {
    const handle = await open(callersPath(file, io.env));
    const stat = await handle.stat();
    if (stat.isDirectory()) throw new UsageError(`${file} is a folder, not a file of events.`);
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
