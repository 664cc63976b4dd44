export interface Ceiling {
    perSecond: number;
    /** Of the poster, a post. */
    cpuUs: number;
}
/** What the same receiver takes from the leanest bare node:http poster on this machine just now. */
export declare function measureCeiling(posts: number): Promise<Ceiling>;
