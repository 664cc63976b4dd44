export declare const inRepository: (path: string) => string;
/** Whether prometheus and promtool are on PATH; where not, it says loudly that tests are left out. */
export declare function isInstalled(): boolean;
/** One series of an answer: its labels and its values over time, NaN included. */
export interface Series {
    labels: Record<string, string>;
    values: number[];
}
export interface Rule {
    name: string;
    query: string;
    health: string;
    lastError?: string;
    type: 'alerting' | 'recording';
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
}
export interface Prometheus {
    /** Evaluates an expression each second since the start. Rejects with what Prometheus says is wrong with it. */
    query(expr: string): Promise<Series[]>;
    rules(): Promise<Rule[]>;
    stop(): Promise<void>;
}
/** A Prometheus of our own with the rules of the repository, which scrapes each job's base URL every second. */
export declare function startPrometheus(jobs: Record<string, string>): Promise<Prometheus>;
