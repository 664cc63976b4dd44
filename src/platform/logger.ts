import { pino, type DestinationStream, type Logger } from 'pino';
import { describeError } from './errors.js';
import pretty from 'pino-pretty';

export type { Logger };

/**
 * JSON lines on stdout, pretty on a terminal. Written synchronously: a worker transport would lose the
 * last lines at exit. Redaction is the second line of defence; the first is to log ids only. Lines are flat, so the
 * top level is where to look: a search of every nested field would cost more than all else of a line.
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
    : pino(options, onePerTurn());
}

/** One write for all lines of a turn of the event loop: under load that halves what logging costs. */
function onePerTurn(): DestinationStream {
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

/** For what may fail many times a second: one line per kind of error in five seconds, with the number left out. */
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
