import { pino, type DestinationStream, type Logger } from 'pino';
import { describeError } from '../errors.js';
import pretty from 'pino-pretty';

export type { Logger };

/** The part of a logger that a thread has. */
export interface ErrorLog {
  error(fields: object, text: string): void;
}

/**
 * JSON lines, pretty-printed on a terminal. Writes are synchronous: a worker transport would lose the last lines at
 * exit. Redaction is the second line of defence; the first is to log ids only. Only top-level fields are redacted:
 * lines are flat, and a search of nested fields would cost more than the rest of a line.
 */
export function createLogger(level: string, bindings: Record<string, unknown> = {}): Logger {
  const options = {
    level,
    base: bindings,
    redact: {
      paths: ['authorization', 'password', 'secret', 'token', 'key'],
      censor: '[redacted]',
    },
  };
  return process.stdout.isTTY
    ? pino(options, pretty({ sync: true, colorize: true, singleLine: true, ignore: 'pid,hostname' }))
    : pino(options, onePerTick());
}

/** One write for all lines of an event-loop tick: under load this halves the cost of logging. */
function onePerTick(): DestinationStream {
  const stdout = pino.destination({ dest: 1, sync: true });
  let lines = '';
  const flush = () => {
    if (lines !== '') stdout.write(lines);
    lines = '';
  };
  process.once('exit', () => {
    flush();
    stdout.flushSync();
  });
  return {
    write: (line) => {
      if (lines === '') setImmediate(flush);
      lines += line;
    },
  };
}

const repeatAfterMs = 5_000;

/** Writes at most one line per kind of error every five seconds, with the number of lines left out. */
export function createThrottledWarn(logger: Logger, message: string): (error: unknown) => void {
  const lastAt = new Map<string, number>();
  let leftOut = 0;
  return (error) => {
    const text = describeError(error);
    if (performance.now() - (lastAt.get(text) ?? -Infinity) < repeatAfterMs) {
      leftOut += 1;
      return;
    }
    if (lastAt.size >= 100) lastAt.clear();
    lastAt.set(text, performance.now());
    logger.warn({ error: text, ...(leftOut > 0 && { leftOut }) }, message);
    leftOut = 0;
  };
}
