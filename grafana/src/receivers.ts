import { prometheusBoard } from './board.js';
import { below, figure, graph, noticed, percentiles } from './panels.js';
import { increase, known, none, perSecond, reported, unservedShare } from './promql.js';
import { failingShare, unserved } from './shared.js';

const attempts = 'delivery_attempts_total';
const duration = 'delivery_attempt_duration_seconds';

/** Trouble that receivers cause, without their names; the board Tenants says whose they are. */
export const receivers = prometheusBoard({
  name: 'receivers',
  title: 'Receivers',
  description:
    'Which receivers fail or are slow, what is held for them, and what became of it. Whose they are: Tenants.',
  rows: [
    {
      question: 'Which webhooks are not served, and why?',
      panels: [
        figure({
          title: 'Failing',
          description: 'Webhooks whose last attempts failed and that are owed something due.',
          unit: 'short',
          queries: [
            { expr: known(reported('webhooks_unserved', '', 'cause="failing"')), legend: 'webhooks' },
          ],
          thresholds: noticed(1),
          without: 'not known',
        }),
        figure({
          title: 'Slow',
          description:
            'Webhooks whose receiver has as many attempts under way as it may have, so that what is due waits for it.',
          unit: 'short',
          queries: [{ expr: known(reported('webhooks_unserved', '', 'cause="slow"')), legend: 'webhooks' }],
          thresholds: noticed(1),
          without: 'not known',
        }),
        figure({
          title: 'Circuits open',
          description:
            'Webhooks that keep failing and are given a rest. Now and then one attempt looks whether they are back.',
          unit: 'short',
          queries: [{ expr: known(reported('circuits_open')), legend: 'webhooks' }],
          thresholds: noticed(1),
          without: 'not known',
        }),
        figure({
          title: 'Of the active webhooks',
          description: 'The share that is not served because of receivers. From 5 % there is a ticket.',
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
        figure({
          title: 'Given up today',
          description: 'Deliveries of 24 hours whose retries are used up. A replay sends them again.',
          unit: 'short',
          queries: [{ expr: known(increase('deliveries_exhausted_total', '24h')), legend: 'deliveries' }],
          thresholds: noticed(1),
          without: 'not known',
        }),
        figure({
          title: 'Disabled today',
          description:
            'Webhooks that the service disabled in 24 hours: they answered 410, or nothing succeeded for 5 days.',
          unit: 'short',
          queries: [{ expr: known(increase('webhooks_disabled_total', '24h')), legend: 'webhooks' }],
          thresholds: noticed(1),
          without: 'not known',
        }),
        unserved(),
        graph({
          title: 'Held, by cause',
          description:
            'Deliveries that wait for what is not ours. receiver: its own concurrency is used up; turn: an earlier state is owed; retry: the next attempt is due later.',
          unit: 'short',
          queries: [{ expr: reported('waiting_deliveries', 'cause'), legend: '{{cause}}' }],
          stacked: true,
        }),
        graph({
          title: 'Webhooks by status',
          description: 'Registered webhooks. DISABLED: answered 410, or five days without one success.',
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
            'HTTP_STATUS and TIMEOUT are answers of receivers. DNS, CONNECT, TLS or RESET for many at once is our own way out.',
          unit: 'ops',
          queries: [{ expr: perSecond(attempts, 'outcome'), legend: '{{outcome}}' }],
          stacked: true,
          ranked: true,
        }),
        graph({
          title: 'Attempts by status class',
          description: 'By the class of the status code. none: no answer came.',
          unit: 'ops',
          queries: [{ expr: perSecond(attempts, 'status_class'), legend: '{{status_class}}' }],
          stacked: true,
        }),
        failingShare(),
      ],
    },
    {
      question: 'How fast do receivers answer?',
      panels: [
        graph({
          title: 'Duration of successful attempts',
          description:
            'Name lookup, connection, request and answer. Over 1 s an attempt gives its slot to others.',
          unit: 's',
          queries: percentiles(duration, 'outcome="success"'),
          thresholds: below(1, 10),
        }),
        graph({
          title: 'Duration of failed attempts',
          description: 'Long ones end at DELIVERY_TIMEOUT (15 s): receivers that hang.',
          unit: 's',
          queries: percentiles(duration, 'outcome="failure"'),
          thresholds: below(5, 15),
        }),
        graph({
          title: 'Held for slow receivers',
          description:
            'Deliveries that wait because their receiver has its own concurrency used up, and webhooks of which that holds.',
          unit: 'short',
          queries: [
            { expr: reported('waiting_deliveries', '', 'cause="receiver"'), legend: 'deliveries' },
            { expr: reported('webhooks_unserved', '', 'cause="slow"'), legend: 'webhooks' },
          ],
        }),
      ],
    },
    {
      question: 'Who is given a rest or switched off?',
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
            'In 10 minutes. A circuit that opens again and again belongs to a receiver that comes and goes.',
          unit: 'short',
          span: 6,
          queries: [{ expr: increase('circuit_transitions_total', '10m', 'to'), legend: '{{to}}' }],
        }),
        graph({
          title: 'Webhooks disabled',
          description: 'By the service, in an hour. GONE: answered 410; FAILING: 5 days without success.',
          unit: 'short',
          span: 6,
          queries: [{ expr: increase('webhooks_disabled_total', '1h', 'reason'), legend: '{{reason}}' }],
        }),
        graph({
          title: 'Owed to webhooks that are not called',
          description:
            'Deliveries held for webhooks that are paused, disabled, given a rest, or of a suspended shipper. Counted up to 200,000, as many of each webhook.',
          unit: 'short',
          span: 6,
          queries: [{ expr: reported('deliveries_uncalled'), legend: 'owed' }],
        }),
      ],
    },
    {
      question: 'What was given up?',
      panels: [
        graph({
          title: 'Retries used up',
          description: 'Deliveries of an hour that became FAILED; a replay sends them again. Normal: 0.',
          unit: 'short',
          span: 12,
          queries: [{ expr: increase('deliveries_exhausted_total', '1h'), legend: 'given up' }],
          thresholds: below(1, 100),
        }),
        graph({
          title: 'Retries',
          description: 'Failed attempts that another one follows.',
          unit: 'ops',
          span: 12,
          queries: [{ expr: perSecond('retries_scheduled_total'), legend: 'retries' }],
        }),
      ],
    },
  ],
});
