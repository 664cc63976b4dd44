import { pino, type Logger } from 'pino';
import pretty from 'pino-pretty';

export type { Logger };

/**
 * JSON lines on stdout, pretty on a terminal. Written synchronously: a worker transport would lose the
 * last lines at exit. Redaction is the second line of defence; the first is to log ids only.
 */
export function createLogger(level: string, bindings: Record<string, unknown> = {}): Logger {
  const options = {
    level,
    base: bindings,
    redact: {
      paths: ['*.authorization', '*.password', '*.secret', '*.token', '*.key'],
      censor: '[redacted]',
    },
  };
  return process.stdout.isTTY
    ? pino(options, pretty({ sync: true, colorize: true, ignore: 'pid,hostname' }))
    : pino(options, pino.destination({ dest: 1, sync: true }));
}
