import type { Engines } from './engines.js';
export interface Bench extends Engines {
    /** A count or rate, made smaller on slow machines. */
    scaled(count: number): number;
    /** Progress, on stderr. */
    say(line: string): void;
}
export interface Figure {
    name: string;
    value: number;
    unit: string;
    /** The bound, where there is one. */
    atMost?: number;
    /** What else was seen. */
    note?: string;
}
export interface Scenario {
    name: string;
    /** What is to hold, in one line. */
    promise: string;
    run(bench: Bench): Promise<Figure[]>;
}
export declare const holds: ({ value, atMost }: Figure) => boolean;
/** Resolves with the milliseconds it took until `condition` held; throws after `timeoutMs`. */
export declare function until(what: string, timeoutMs: number, condition: () => boolean | Promise<boolean>): Promise<number>;
