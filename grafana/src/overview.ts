import { prometheusBoard } from './board.js';
import { oursRow, theirsRow } from './halves.js';
import { atLeast, below, figure, graph, noticed, percentiles } from './panels.js';
import {
  apiRoutes,
  expectedByRole,
  firing,
  known,
  metric,
  ours,
  oursDrained,
  perSecond,
  readyByRole,
  theirs,
  theirsDrained,
} from './promql.js';
import { byProcess, oldestSendable, orderToCreated, owed, sendable, unserved } from './shared.js';

const requests = 'http_requests_total';
const watchdog = firing('alertname="ParcelhookWatchdog"');
const alerts = (severity: string) =>
  `count(${firing(`alertname!="ParcelhookWatchdog", severity="${severity}"`)})`;
const calm = `0 * count(${watchdog})`;

const backlogRow = {
  question: 'How much is owed, how long does it take to drain, and which alerts fire?',
  panels: [
    figure({
      title: 'Ours: sendable now',
      description:
        'Deliveries that could be sent now and are not being sent. Counted up to a bound, the same for each webhook.',
      unit: 'short',
      queries: [{ expr: known(ours), legend: 'sendable' }],
      without: 'absent',
    }),
    figure({
      title: 'Ours: time to drain',
      description: 'How long it takes to send them at the current rate of attempts.',
      unit: 's',
      queries: [{ expr: known(oursDrained, `0 * (${ours} == 0)`), legend: 'drained in' }],
      thresholds: below(60, 600),
      without: 'absent',
    }),
    figure({
      title: 'Theirs: waiting',
      description:
        'Deliveries that wait for a receiver, a shipper, their turn or their retry. Counted up to a bound, the same for each webhook.',
      unit: 'short',
      queries: [{ expr: known(theirs), legend: 'waiting' }],
      without: 'not known',
    }),
    figure({
      title: 'Theirs: time to drain',
      description:
        'How long it takes until none is left, if their number keeps falling as in the last 15 minutes.',
      unit: 's',
      queries: [{ expr: known(theirsDrained, `0 * (${theirs} == 0)`), legend: 'drained in' }],
      without: 'not known',
    }),
    figure({
      title: 'Pages',
      description: 'Firing alerts that page. Each has a section in the runbook.',
      unit: 'short',
      queries: [{ expr: known(alerts('page'), calm), legend: 'firing' }],
      thresholds: below(1, 1),
      without: 'absent',
      span: 3,
    }),
    figure({
      title: 'Tickets',
      description: 'Firing alerts that can wait for the morning. Each has a section in the runbook.',
      unit: 'short',
      queries: [{ expr: known(alerts('ticket'), calm), legend: 'firing' }],
      thresholds: noticed(1),
      without: 'absent',
      span: 3,
    }),
    figure({
      title: 'Watchdog',
      description:
        'The alert that always fires. If it does not, Prometheus evaluates no rules and no alert reaches anyone.',
      unit: 'short',
      queries: [{ expr: known(`count(${watchdog})`), legend: 'firing' }],
      thresholds: atLeast(1),
      without: 'absent',
      span: 2,
    }),
    owed(),
    unserved(),
    graph({
      title: 'Alerts firing',
      description: 'Pages and tickets over time, one line for each alert.',
      unit: 'short',
      queries: [
        {
          expr: `count by (alertname, severity) (${firing('severity=~"page|ticket"')})`,
          legend: '{{severity}}: {{alertname}}',
        },
      ],
      stacked: true,
      ranked: true,
    }),
  ],
};

/** Is it well, and if not, whose is it? */
export const overview = prometheusBoard({
  name: 'overview',
  title: 'Overview',
  description: "Is the service healthy, and if not, is the fault ours or the receivers'?",
  rows: [
    oursRow,
    theirsRow,
    backlogRow,
    {
      question: 'Are orders accepted and created?',
      panels: [
        graph({
          title: 'Orders accepted',
          description:
            'Orders committed and accepted with 201, and the rate at this time yesterday. ParcelhookNoOrdersAccepted watches them.',
          unit: 'ops',
          span: 6,
          queries: [
            { expr: perSecond('orders_accepted_total'), legend: 'now' },
            {
              expr: `sum (rate(${metric('orders_accepted_total')}[$__rate_interval] offset 1d))`,
              legend: 'yesterday',
            },
          ],
        }),
        graph({
          title: 'Responses by status',
          description:
            'Responses of the API by HTTP status. 5xx is our fault; 503: PostgreSQL was unreachable and nothing was accepted; 499: the client gave up.',
          unit: 'reqps',
          span: 6,
          queries: [{ expr: perSecond(requests, 'status', apiRoutes), legend: '{{status}}' }],
          stacked: true,
        }),
        graph({
          title: 'Response time',
          description:
            'Time from a request to the end of its response, over all routes except those that are slow by design. Internals shows it by route.',
          unit: 's',
          span: 6,
          queries: percentiles('http_request_duration_seconds', apiRoutes),
          thresholds: below(0.25, 0.5),
        }),
        orderToCreated().span(6),
      ],
    },
    {
      question: 'Are notifications delivered, and how soon?',
      panels: [
        graph({
          title: 'Owed and delivered',
          description:
            'Deliveries recorded for webhooks, and deliveries that succeeded. The two lines coincide unless something waits.',
          unit: 'ops',
          queries: [
            { expr: perSecond('notifications_fanned_out_total'), legend: 'owed' },
            { expr: perSecond('deliveries_completed_total', '', 'status="SUCCEEDED"'), legend: 'delivered' },
          ],
        }),
        sendable(),
        oldestSendable(),
      ],
    },
    {
      question: 'Which processes run?',
      panels: [
        graph({
          title: 'Ready by role',
          description: 'Processes that are ready, and processes that are expected to be.',
          unit: 'short',
          queries: [
            { expr: readyByRole, legend: '{{role}} ready' },
            { expr: expectedByRole, legend: '{{role}} expected' },
          ],
        }),
        graph({
          title: 'Versions',
          description:
            'Processes by version, commit, version of Node and queue engine. There are two lines during a rollout.',
          unit: 'short',
          queries: [
            {
              expr: `count by (version, commit, node, queue) (${metric('build_info')})`,
              legend: '{{version}} ({{commit}}), Node {{node}}, queue on {{queue}}',
            },
          ],
        }),
        graph({
          title: 'Running for',
          description:
            'Time since each of the ten youngest processes started. A sawtooth is a process that keeps dying.',
          unit: 's',
          queries: [
            {
              expr: `bottomk(10, time() - ${metric('process_start_time_seconds')})`,
              legend: byProcess,
            },
          ],
          ranked: true,
        }),
      ],
    },
  ],
});
