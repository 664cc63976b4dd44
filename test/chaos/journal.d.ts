import type { Closing } from './engines.js';
import type { Entry, Hook } from './model.js';
/** The receiver's process and what it has written down. */
export declare function startReceiver(journalFile: string, closing: Closing): Promise<{
    url: string;
    expect: (seed: number, hooks: Hook[], closes: boolean) => Promise<void>;
    journal: () => Entry[];
}>;
