import { type Logger } from 'pino';
export type { Logger };
/**
 * JSON lines on stdout, pretty on a terminal. Written synchronously: a worker transport would lose the
 * last lines at exit. Redaction is the second line of defence; the first is to log ids only. Lines are flat, so the
 * top level is where to look: a search of every nested field would cost more than all else of a line.
 */
export declare function createLogger(level: string, bindings?: Record<string, unknown>): Logger;
/** For what may fail many times a second: one line per kind of error in five seconds, with the number left out. */
export declare function createThrottledWarn(logger: Logger, message: string): (error: unknown) => void;
