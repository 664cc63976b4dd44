import { below, graph, percentiles } from './panels.js';
import { failingAttempts, largest, lateShare, none, ours, reported, theirsByCause } from './promql.js';

/** Panels that stand in more than one dashboard. Functions, since a builder belongs to one of them. */

export const byProcess = '{{job}} {{instance}}';

export const failingShare = () =>
  graph({
    title: 'Failing attempts',
    description:
      'Share of attempts that fail, over all webhooks. One dead receiver that is called often can dominate it.',
    unit: 'percentunit',
    queries: [{ expr: failingAttempts, legend: 'failing' }],
  });

export const oldestSendable = () =>
  graph({
    title: 'Oldest sendable',
    description:
      'How long the oldest sendable delivery has waited for us, according to PostgreSQL. Normal: under 5 s, the objective.',
    unit: 's',
    queries: [{ expr: `${reported('sendable_oldest_seconds')} or ${none(ours)}`, legend: 'oldest' }],
    thresholds: below(2, 5),
  });

export const sendable = () =>
  graph({
    title: 'Sendable to attempt over time',
    description:
      'Time from when a delivery could be sent to the start of its attempt: the wait that is our fault. Objective: 99 % within 5 s.',
    unit: 's',
    queries: percentiles('sendable_seconds'),
    thresholds: below(2, 5),
  });

export const orderToCreated = () =>
  graph({
    title: 'Order to created over time',
    description:
      'Time from the acceptance of an order until its shipment is CREATED. Objective: 99 % within 1 s.',
    unit: 's',
    queries: percentiles('order_to_created_seconds'),
    thresholds: below(0.5, 1),
  });

export const late = (title: string, description: string, histogram: string, seconds: number) =>
  graph({
    title,
    description,
    unit: 'percentunit',
    queries: [{ expr: lateShare(histogram, seconds, '5m'), legend: 'late' }],
    thresholds: below(0.01, 0.144),
  });

export const owed = () =>
  graph({
    title: 'Backlog, ours and theirs',
    description:
      'Deliveries that could be sent now wait for us; the others do not, and are shown by cause. Counted up to a bound, the same for each webhook.',
    unit: 'short',
    queries: [
      { expr: ours, legend: 'ours: sendable' },
      { expr: theirsByCause, legend: 'theirs: {{cause}}' },
    ],
    stacked: true,
  });

export const unserved = () =>
  graph({
    title: 'Webhooks not served, by cause',
    description:
      'Webhooks with due deliveries that are not served. failing, slow and circuit are caused by receivers; paused, disabled and suspended are switched off.',
    unit: 'short',
    queries: [{ expr: reported('webhooks_unserved', 'cause'), legend: '{{cause}}' }],
    stacked: true,
  });

/** A gauge of each process. */
export const ofProcesses = (
  title: string,
  description: string,
  unit: string,
  expr: string,
  thresholds?: ReturnType<typeof below>,
) =>
  graph({
    title,
    description,
    unit,
    queries: [{ expr: largest(expr), legend: byProcess }],
    thresholds,
    ranked: true,
  });
