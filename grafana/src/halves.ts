import { atLeast, below, figure, noticed } from './panels.js';
import {
  badShare,
  byReceivers,
  expectedByRole,
  idle,
  known,
  leastBudget,
  metric,
  none,
  ours,
  readyByRole,
  recentP99,
  reported,
  unservedShare,
} from './promql.js';

const senders = 'worker|all';
const activeWebhooks = reported('webhooks', '', 'status="ACTIVE"');

/** Red means ours: it breaks a promise, or a figure is missing that a healthy service shows. */
export const oursRow = {
  question: 'Ours: do we keep our promises?',
  panels: [
    figure({
      title: 'Error budget left',
      description:
        'The objective of 30 days that has the least of its budget left: sent 99 % in 5 s, created 99 % in 1 s, answered 99.9 %, answered soon 99 % in 0.5 s. Below 0 it is missed.',
      unit: 'percentunit',
      queries: [
        {
          expr: known(leastBudget, `1 + ${none(`sum(${metric('sendable_seconds_count')})`)}`),
          legend: '{{objective}}',
        },
      ],
      thresholds: atLeast(0.25, 0),
      without: 'absent',
      span: 4,
    }),
    figure({
      title: 'Sendable to attempt',
      description:
        'The longest that 99 % of sendable deliveries waited for us (5 minutes), and how long the oldest has waited now. Red from 5 s.',
      unit: 's',
      queries: [
        { expr: known(recentP99('sendable_seconds'), idle(senders)), legend: 'p99' },
        {
          expr: known(reported('sendable_oldest_seconds'), none(ours)),
          legend: 'oldest now',
        },
      ],
      thresholds: below(2, 5),
      without: 'absent',
      span: 6,
    }),
    figure({
      title: 'Order to created',
      description:
        'The longest that 99 % of the orders took to be CREATED (5 minutes), and how long the oldest has waited now. Red from 1 s.',
      unit: 's',
      queries: [
        { expr: known(recentP99('order_to_created_seconds'), idle(senders)), legend: 'p99' },
        {
          expr: known(reported('order_oldest_uncreated_seconds'), none(reported('orders_uncreated'))),
          legend: 'oldest now',
        },
      ],
      thresholds: below(0.5, 1),
      without: 'absent',
      span: 6,
    }),
    figure({
      title: 'Bad API requests',
      description:
        'Share of the requests in 5 minutes that failed (5xx), or whose clients gave up after half a second (499). Objective: 0.1 %.',
      unit: 'percentunit',
      queries: [{ expr: known(badShare('5m'), idle('api|all')), legend: 'bad' }],
      thresholds: below(0.001, 0.01),
      without: 'absent',
      span: 4,
    }),
    figure({
      title: 'Ready of expected',
      description:
        'Ready processes as a share of those that Prometheus knows, by role. Red: one of them is not ready, or a role of the last 6 hours has none.',
      unit: 'percentunit',
      queries: [{ expr: known(`(${readyByRole}) / (${expectedByRole})`), legend: '{{role}}' }],
      thresholds: atLeast(1, 0.999),
      without: 'absent',
      span: 4,
    }),
  ],
};

/** Red means that receivers are the cause. An unknown figure is not their fault. */
export const theirsRow = {
  question: 'Theirs: which receivers keep us from delivering?',
  panels: [
    figure({
      title: 'Webhooks failed by receivers',
      description:
        'Webhooks that are not served because of their receivers, as a share of the active ones. At 5 % the figure turns red and a ticket fires.',
      unit: 'percentunit',
      queries: [{ expr: known(unservedShare, none(activeWebhooks)), legend: 'of active' }],
      thresholds: below(0.0001, 0.05),
      without: 'not known',
      span: 5,
    }),
    figure({
      title: 'Not served, by cause',
      description:
        'Webhooks with due deliveries. failing: the last attempts failed; slow: their concurrency is used up; circuit: their circuit is open.',
      unit: 'short',
      queries: [{ expr: known(reported('webhooks_unserved', 'cause', byReceivers)), legend: '{{cause}}' }],
      thresholds: noticed(1),
      without: 'not known',
      span: 10,
    }),
    figure({
      title: 'Switched off',
      description:
        'Webhooks with due deliveries that are not called: paused by their shipper, disabled by their receiver or after 5 days of failures, or of a suspended shipper.',
      unit: 'short',
      queries: [
        {
          expr: known(reported('webhooks_unserved', 'cause', 'cause=~"paused|disabled|suspended"')),
          legend: '{{cause}}',
        },
      ],
      without: 'not known',
      span: 9,
    }),
  ],
};
