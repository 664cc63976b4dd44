/**
 * PromQL over the metrics of the service. Counters and histograms are each process's own and summed; what is read
 * from PostgreSQL is reported by every worker alike, and the largest is taken.
 */

const grouped = (labels: string) => (labels ? ` by (${labels})` : '');

/** Increase per second of a counter over all processes. `selector` may hold matchers, `labels` are kept. */
export const perSecond = (selector: string, labels = ''): string =>
  `sum${grouped(labels)} (rate(parcelhook_${selector}[$__rate_interval]))`;

/** A figure that every worker reports alike. */
export const reported = (selector: string, labels = ''): string =>
  `max${grouped(labels)} (parcelhook_${selector})`;

/** Quantile of a histogram over all processes. */
export const quantile = (q: number, histogram: string, labels = '', matchers = ''): string =>
  `histogram_quantile(${q}, ${perSecond(`${histogram}_bucket${matchers}`, labels ? `le, ${labels}` : 'le')})`;

/** Mean of a histogram over all processes. */
export const mean = (histogram: string, labels: string): string =>
  `${perSecond(`${histogram}_sum`, labels)} / ${perSecond(`${histogram}_count`, labels)}`;

/** `part` as a share of `whole`; none where nothing happened, 0 where no part has happened yet. */
export const share = (part: string, whole: string): string => `(${part} or vector(0)) / ${whole}`;

/** The share of attempts that fail. */
export const failingAttempts = share(
  perSecond('delivery_attempts_total{outcome!="SUCCEEDED"}'),
  perSecond('delivery_attempts_total'),
);

/** Matches the routes of the API, without health pages, /metrics and wrong paths. */
export const apiRoutes = 'route=~"/(v1|operator)/.+"';
