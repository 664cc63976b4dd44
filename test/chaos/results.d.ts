import type { Result } from './run.js';
/** What tells one run from another. */
export interface RunKey {
    fault: string;
    queue: string;
    seed: number;
    eventsPerSecond: number;
    seconds: number;
    scale: number;
}
/** A run that is over, as it stands in a line of the file of results. */
export type Finished = Omit<RunKey, 'seconds'> & {
    loadSeconds: number;
} & Result;
export declare const isNotRun: ({ notRun }: Result) => boolean;
export declare const isGood: ({ violations, figures }: Result) => boolean;
/** Runs that were finished earlier, and a place for more: a line each, written when its run is over. */
export declare function resultsIn(file: string | undefined): {
    find: (key: RunKey) => Finished | undefined;
    add: ({ eventsPerSecond, seconds, scale }: RunKey, result: Result) => void;
};
