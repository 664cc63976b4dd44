import { type Io } from './terminal.js';
export declare const yesOption: readonly ['--yes', 'do not ask'];
/** Asks before something that cannot be undone, unless `yes` is given. Throws UsageError for any other answer than y or yes. */
export declare function confirm(io: Io, question: string, yes: boolean | undefined): Promise<void>;
