/**
 * PromQL over the metrics of the service. Every selector names the variables of the dashboard. Counters and histograms
 * are each process's own and summed; what is read from PostgreSQL every process reports alike, and the largest is taken.
 */

const scope = 'environment=~"$environment", job=~"$job", instance=~"$instance"';

/** An alert bears only the labels that its rule has kept: one without a job is everybody's. */
const alertScope = 'environment=~"$environment|", job=~"$job|", instance=~"$instance|"';

const among = (matchers: string) => (matchers ? `, ${matchers}` : '');
const grouped = (labels: string) => (labels ? ` by (${labels})` : '');

/** A metric of the processes chosen. */
export const metric = (name: string, matchers = ''): string =>
  `parcelhook_${name}{${scope}${among(matchers)}}`;

/** A metric of node_exporter, whose job is not one of the service's. */
export const ofMachine = (name: string, matchers = ''): string =>
  `${name}{environment=~"$environment"${among(matchers)}}`;

/** Whether Prometheus reaches the processes chosen. */
const up = `up{${scope}}`;

/** Alerts that fire for the processes chosen. */
export const firing = (matchers: string): string =>
  `ALERTS{${alertScope}, alertstate="firing"${among(matchers)}}`;

/** Increase per second of a counter over all processes. `labels` are kept. */
export const perSecond = (name: string, labels = '', matchers = ''): string =>
  `sum${grouped(labels)} (rate(${metric(name, matchers)}[$__rate_interval]))`;

/** Increase of a counter over all processes in `span`. */
export const increase = (name: string, span: string, labels = '', matchers = ''): string =>
  `sum${grouped(labels)} (increase(${metric(name, matchers)}[${span}]))`;

/** A figure that every process reports alike. */
export const reported = (name: string, labels = '', matchers = ''): string =>
  `max${grouped(labels)} (${metric(name, matchers)})`;

/** Quantile of a histogram over all processes. */
export const quantile = (q: number, histogram: string, labels = '', matchers = ''): string =>
  `histogram_quantile(${q}, ${perSecond(`${histogram}_bucket`, labels ? `le, ${labels}` : 'le', matchers)})`;

/** 99th percentile of the last five minutes; none while nothing happens. */
export const recentP99 = (histogram: string): string =>
  `histogram_quantile(0.99, ${increase(`${histogram}_bucket`, '5m', 'le')}) >= 0`;

/** Mean of a histogram over all processes. */
export const mean = (histogram: string, labels: string): string =>
  `${perSecond(`${histogram}_sum`, labels)} / ${perSecond(`${histogram}_count`, labels)}`;

/** `part` as a share of `whole`; none where nothing happened, 0 where no part has happened yet. */
export const share = (part: string, whole: string): string => `(${part} or vector(0)) / ${whole}`;

/** The largest few of many series. */
export const largest = (expr: string): string => `topk(10, ${expr})`;

/** The first of `exprs` that has a figure. Where none has, what should be known is not: NaN, which panels show as such. */
export const known = (...exprs: string[]): string => [...exprs, 'vector(NaN)'].join(' or on () ');

/** 0 where one process at least is ready in one of `roles`. */
export const idle = (roles: string): string => `0 * max(${metric('ready', `role=~"${roles}"`)} == 1)`;

/** 0 where the figure is known at all. */
export const none = (expr: string): string => `0 * (${expr})`;

/** The routes of the API, without health pages, /metrics and wrong paths. */
export const apiRoutes = 'route=~"/(v1|operator)/.+"';

/** A bucket's bound as Prometheus 2 and 3 write it. */
const bound = (seconds: number) => `le=~"${seconds}|${seconds}[.]0"`;

/** The share of what a histogram has measured in `span` that took longer than `seconds`, one of its bounds. */
export const lateShare = (histogram: string, seconds: number, span: string): string =>
  `1 - ${increase(`${histogram}_bucket`, span, '', bound(seconds))} / ${increase(`${histogram}_count`, span)}`;

const requests = 'http_requests_total';
const duration = 'http_request_duration_seconds';
const gaveUp = `${apiRoutes}, status="499"`;

/**
 * The share of requests that failed, or whose clients gave up after more than half a second; none while there are no
 * requests. A 503 of a login does not count, since anybody can cause it.
 */
export function badShare(span: string): string {
  const bad = [
    `(${increase(requests, span, '', `${apiRoutes}, status=~"5.."`)} or vector(0))`,
    `- (${increase(requests, span, '', 'route="/v1/login", status="503"')} or vector(0))`,
    `+ (${increase(`${duration}_count`, span, '', gaveUp)} - ${increase(`${duration}_bucket`, span, '', `${gaveUp}, le="0.5"`)} or vector(0))`,
  ];
  return `(${bad.join(' ')}) / (${increase(requests, span, '', apiRoutes)} > 0)`;
}

const answered = `${apiRoutes}, status!~"5..|499"`;
const slowShare = (span: string) =>
  `1 - ${increase(`${duration}_bucket`, span, '', `${answered}, le="0.5"`)} / ${increase(`${duration}_count`, span, '', answered)}`;

/** Objectives of 30 days: the share that may miss each, and the share that did; none where nothing has happened. */
const objectives = [
  ['sent', 0.01, lateShare('sendable_seconds', 5, '30d')],
  ['created', 0.01, lateShare('order_to_created_seconds', 1, '30d')],
  ['answered', 0.001, badShare('30d')],
  ['answered soon', 0.01, slowShare('30d')],
] as const;

/** The objective that has the least of its budget left, and how much. */
export const leastBudget = `bottomk(1, ${objectives
  .map(
    ([name, budget, missed]) =>
      `label_replace(1 - (${missed} >= 0) / ${budget}, "objective", "${name}", "", "")`,
  )
  .join(' or ')})`;

/** The share of attempts that fail. */
export const failingAttempts = share(
  perSecond('delivery_attempts_total', '', 'outcome!="SUCCEEDED"'),
  perSecond('delivery_attempts_total'),
);

const seenLately = `last_over_time(${metric('ready')}[6h])`;
const process = 'environment, job, instance';

/** Processes ready, by role; 0 where there should be some. */
export const readyByRole = `sum by (role) (${metric('ready')}) or 0 * sum by (role) (${seenLately})`;

/**
 * Processes that should be ready, by role: those that Prometheus knows of, but for those that stop, and at least one of
 * each role that was there in the last six hours.
 */
export const expectedByRole = `count by (role) (${seenLately} and on (${process}) ${up} unless on (${process}) ${metric('draining')} == 1) or (count by (role) (${seenLately}) > bool 0)`;

/** Rows that could be sent now: ours. */
export const ours = reported('sendable_deliveries');

/** Rows that wait for what is not ours, by cause. */
export const theirsByCause = reported('waiting_deliveries', 'cause');
export const theirs = `sum(${theirsByCause})`;

/** Causes that receivers give; the others are wishes of shippers or operators. */
export const byReceivers = 'cause=~"failing|slow|circuit"';

/** Webhooks that their receivers keep from being served, as a share of the active ones. */
export const unservedShare = `sum(${reported('webhooks_unserved', 'cause', byReceivers)}) / (${reported('webhooks', '', 'status="ACTIVE"')} > 0)`;

/** Three years: what takes longer does not end. */
export const endlessSeconds = 1e8;

/** How long sending what is sendable takes at the present rate of attempts. */
export const oursDrained = `clamp_max((${ours} > 0) / (${perSecond('delivery_attempts_total')} or vector(0)), ${endlessSeconds})`;

/** How long what waits for others takes to go, as it has shrunk in a quarter of an hour. */
export const theirsDrained = `clamp_max((${theirs} > 0) / clamp_min(-deriv((${theirs})[15m:1m]), 1e-9), ${endlessSeconds})`;

/** The builds of a job that were not there two minutes before. */
export const deploys = `count by (job, version, commit) (${metric('build_info')}) unless on (job, version, commit) count by (job, version, commit) (${metric('build_info')} offset 2m)`;
