import { type Io } from './terminal.js';
/** Runs one command line, given without `node` and the script. Answers the exit code; errors go to `io.stderr`. */
export declare function runOperator(args: string[], io: Io): Promise<number>;
