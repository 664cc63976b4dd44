import { prometheusBoard } from './board.js';
import { below, figure, graph, noticed, percentiles } from './panels.js';
import { increase, known, none, perSecond, reported, unservedShare } from './promql.js';
import { failingShare, unserved } from './shared.js';

const attempts = 'delivery_attempts_total';
const duration = 'delivery_attempt_duration_seconds';

/** A figure that is worth a look from 1 on. */
const noticeable = (title: string, description: string, expr: string, legend = 'webhooks') =>
  figure({
    title,
    description,
    unit: 'short',
    queries: [{ expr: known(expr), legend }],
    thresholds: noticed(1),
    without: 'not known',
  });

/** Trouble that receivers cause, without their names; the board Tenants says whose they are. */
export const receivers = prometheusBoard({
  name: 'receivers',
  title: 'Receivers',
  description:
    'Which receivers fail or are slow, what is held for them, and how it ended. Tenants shows their shippers.',
  rows: [
    {
      question: 'Which webhooks are not served, and why?',
      panels: [
        noticeable(
          'Failing',
          'Webhooks with due deliveries whose last attempts failed.',
          reported('webhooks_unserved', '', 'cause="failing"'),
        ),
        noticeable(
          'Slow',
          'Webhooks with as many attempts under way as their receiver may have, so that due deliveries wait for it.',
          reported('webhooks_unserved', '', 'cause="slow"'),
        ),
        noticeable(
          'Circuits open',
          'Webhooks that keep failing and are not called. Now and then a probe checks whether the receiver is back.',
          reported('circuits_open'),
        ),
        figure({
          title: 'Of the active webhooks',
          description:
            'Share of the active webhooks that are not served because of their receivers. At 5 % a ticket fires.',
          unit: 'percentunit',
          queries: [
            {
              expr: known(unservedShare, none(reported('webhooks', '', 'status="ACTIVE"'))),
              legend: 'of active',
            },
          ],
          thresholds: below(0.0001, 0.05),
          without: 'not known',
        }),
        noticeable(
          'Given up today',
          'Deliveries that used up their retries in the last 24 hours. A replay sends them again.',
          increase('deliveries_exhausted_total', '24h'),
          'deliveries',
        ),
        noticeable(
          'Disabled today',
          'Webhooks that the service disabled in the last 24 hours: they returned 410 or asked for it, or nothing succeeded for 5 days.',
          increase('webhooks_disabled_total', '24h'),
        ),
        unserved(),
        graph({
          title: 'Held, by cause',
          description:
            'Deliveries that do not wait for us. receiver: its own concurrency is used up; turn: an earlier state is owed; retry: the next attempt is due later.',
          unit: 'short',
          queries: [{ expr: reported('waiting_deliveries', 'cause'), legend: '{{cause}}' }],
          stacked: true,
        }),
        graph({
          title: 'Webhooks by status',
          description:
            'Registered webhooks. DISABLED: the receiver returned 410 or asked for it, or five days passed without a success.',
          unit: 'short',
          queries: [{ expr: reported('webhooks', 'status'), legend: '{{status}}' }],
        }),
      ],
    },
    {
      question: 'Do attempts fail, and how?',
      panels: [
        graph({
          title: 'Attempts by outcome',
          description:
            'HTTP_STATUS and TIMEOUT come from receivers. DNS, CONNECT, TLS or RESET for many at once points to our own network.',
          unit: 'ops',
          queries: [{ expr: perSecond(attempts, 'outcome'), legend: '{{outcome}}' }],
          stacked: true,
          ranked: true,
        }),
        graph({
          title: 'Attempts by status class',
          description: 'Attempts by the class of the status code. none: no response came.',
          unit: 'ops',
          queries: [{ expr: perSecond(attempts, 'status_class'), legend: '{{status_class}}' }],
          stacked: true,
        }),
        failingShare(),
      ],
    },
    {
      question: 'How fast do receivers respond?',
      panels: [
        graph({
          title: 'Duration of successful attempts',
          description:
            'Name lookup, connection, request and response. After 1 s an attempt gives its slot to others.',
          unit: 's',
          queries: percentiles(duration, 'outcome="success"'),
          thresholds: below(1, 10),
        }),
        graph({
          title: 'Duration of failed attempts',
          description: 'Attempts that end at DELIVERY_TIMEOUT (15 s) are to receivers that hang.',
          unit: 's',
          queries: percentiles(duration, 'outcome="failure"'),
          thresholds: below(5, 15),
        }),
        graph({
          title: 'Held for slow receivers',
          description:
            'Deliveries that wait because the concurrency of their receiver is used up, and the webhooks they wait for.',
          unit: 'short',
          queries: [
            { expr: reported('waiting_deliveries', '', 'cause="receiver"'), legend: 'deliveries' },
            { expr: reported('webhooks_unserved', '', 'cause="slow"'), legend: 'webhooks' },
          ],
        }),
      ],
    },
    {
      question: 'Which webhooks have an open circuit or are switched off?',
      panels: [
        graph({
          title: 'Circuits open over time',
          description:
            'Webhooks that are not called because they keep failing. Many that open at once share a cause, perhaps ours.',
          unit: 'short',
          span: 6,
          queries: [{ expr: reported('circuits_open'), legend: 'open' }],
        }),
        graph({
          title: 'Circuits that opened or closed',
          description:
            'Changes in 10 minutes. A circuit that keeps opening belongs to a receiver that comes and goes.',
          unit: 'short',
          span: 6,
          queries: [{ expr: increase('circuit_transitions_total', '10m', 'to'), legend: '{{to}}' }],
        }),
        graph({
          title: 'Webhooks disabled',
          description:
            'Webhooks that the service disabled in an hour. GONE: the receiver returned 410; REFUSED: it returned webhook-delivery: disable; FAILING: 5 days without a success.',
          unit: 'short',
          span: 6,
          queries: [{ expr: increase('webhooks_disabled_total', '1h', 'reason'), legend: '{{reason}}' }],
        }),
        graph({
          title: 'Owed to webhooks that are not called',
          description:
            'Deliveries held for webhooks that are paused, disabled, of a suspended shipper, or have an open circuit. Counted up to 200,000, the same bound for each webhook.',
          unit: 'short',
          span: 6,
          queries: [{ expr: reported('deliveries_uncalled'), legend: 'owed' }],
        }),
      ],
    },
    {
      question: 'Which deliveries failed for good?',
      panels: [
        graph({
          title: 'Retries used up',
          description:
            'Deliveries that became FAILED in an hour; a replay sends them again. refused: the receiver asked for no more attempts; webhooks: those whose retries were used up.',
          unit: 'short',
          span: 12,
          queries: [
            { expr: increase('deliveries_exhausted_total', '1h'), legend: 'given up' },
            { expr: increase('deliveries_refused_total', '1h'), legend: 'refused' },
            { expr: reported('webhooks_exhausted'), legend: 'webhooks' },
          ],
          thresholds: below(1, 100),
        }),
        graph({
          title: 'Retries',
          description: 'Failed attempts that will be retried.',
          unit: 'ops',
          span: 12,
          queries: [{ expr: perSecond('retries_scheduled_total'), legend: 'retries' }],
        }),
      ],
    },
  ],
});
