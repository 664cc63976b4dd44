export interface Percentiles {
    p50: number;
    p99: number;
}
export declare function percentiles(values: number[]): Percentiles;
export declare const median: (values: number[]) => number;
