/**
 * PromQL over the metrics of the service. Counters and histograms are each process's own and summed; what is read
 * from PostgreSQL is reported by every worker alike, and the largest is taken.
 */
/** Increase per second of a counter over all processes. `selector` may hold matchers, `labels` are kept. */
export declare const perSecond: (selector: string, labels?: string) => string;
/** A figure that every worker reports alike. */
export declare const reported: (selector: string, labels?: string) => string;
/** Quantile of a histogram over all processes. */
export declare const quantile: (q: number, histogram: string, labels?: string, matchers?: string) => string;
/** Mean of a histogram over all processes. */
export declare const mean: (histogram: string, labels: string) => string;
/** `part` as a share of `whole`; none where nothing happened, 0 where no part has happened yet. */
export declare const share: (part: string, whole: string) => string;
/** The share of attempts that fail. */
export declare const failingAttempts: string;
/** Matches the routes of the API, without health pages, /metrics and wrong paths. */
export declare const apiRoutes = "route=~\"/(v1|operator)/.+\"";
