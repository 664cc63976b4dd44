/** RSS of a process once it has come to rest: the median of five seconds after ten. */
export declare function settledRssMb(pid: number): Promise<number>;
/** Looks at a process's RSS ten times a second; `stop` answers what was seen, in MB. */
export declare function watchMemory(pid: number): {
    stop(): number[];
};
/** The highest of what `look` answers, four times a second. */
export declare function watchPeak(look: () => Promise<number>): {
    stop(): Promise<number>;
};
