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
  question: 'How much is owed, how long does it take to drain, and who was told?',
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
      description: 'How long it takes to send them at the present rate of attempts.',
      unit: 's',
      queries: [{ expr: known(oursDrained, `0 * (${ours} == 0)`), legend: 'drained in' }],
      thresholds: below(60, 600),
      without: 'absent',
    }),
    figure({
      title: 'Theirs: waiting',
      description:
        'Deliveries that wait for a receiver, an owner, their turn or their retry. Counted up to a bound, the same for each webhook.',
      unit: 'short',
      queries: [{ expr: known(theirs), legend: 'waiting' }],
      without: 'not known',
    }),
    figure({
      title: 'Theirs: time to drain',
      description:
        'How long it takes until they are gone, if they go on shrinking as in the last 15 minutes.',
      unit: 's',
      queries: [{ expr: known(theirsDrained, `0 * (${theirs} == 0)`), legend: 'drained in' }],
      without: 'not known',
    }),
    figure({
      title: 'Pages',
      description: 'Alerts firing that wake somebody. Each has a section in the runbook.',
      unit: 'short',
      queries: [{ expr: known(alerts('page'), calm), legend: 'firing' }],
      thresholds: below(1, 1),
      without: 'absent',
      span: 3,
    }),
    figure({
      title: 'Tickets',
      description: 'Alerts firing that wait for the morning. Each has a section in the runbook.',
      unit: 'short',
      queries: [{ expr: known(alerts('ticket'), calm), legend: 'firing' }],
      thresholds: noticed(1),
      without: 'absent',
      span: 3,
    }),
    figure({
      title: 'Watchdog',
      description:
        'The alert that always fires. Without it Prometheus evaluates no rules, and nobody would be told of anything.',
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
      description: 'Pages and tickets over time, each a line of its height.',
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
  description: 'Is the service well, and if not: is it ours or theirs?',
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
            'Orders committed and answered with 201, and as many as at this time yesterday. ParcelhookNoOrdersAccepted watches it.',
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
          title: 'Answers by status',
          description:
            'Answers of the API by HTTP status. 5xx is ours, 503 means that PostgreSQL was out of reach and nothing was accepted; 499: the client gave up.',
          unit: 'reqps',
          span: 6,
          queries: [{ expr: perSecond(requests, 'status', apiRoutes), legend: '{{status}}' }],
          stacked: true,
        }),
        graph({
          title: 'Time to answer',
          description:
            'From a request to the end of its answer, over all routes but those that are slow by design. By route in Internals.',
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
            'Notifications fanned out to webhooks, and deliveries that succeeded. The two lie on each other unless something waits.',
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
      question: 'What runs?',
      panels: [
        graph({
          title: 'Ready by role',
          description: 'Processes that are ready, and those that are expected to be.',
          unit: 'short',
          queries: [
            { expr: readyByRole, legend: '{{role}} ready' },
            { expr: expectedByRole, legend: '{{role}} expected' },
          ],
        }),
        graph({
          title: 'Versions',
          description:
            'Processes by version, version of Node and queue engine. There are two lines while one is rolled out.',
          unit: 'short',
          queries: [
            {
              expr: `count by (version, node, queue) (${metric('build_info')})`,
              legend: '{{version}}, Node {{node}}, queue on {{queue}}',
            },
          ],
        }),
        graph({
          title: 'Running for',
          description:
            'Time since each process started, the youngest ten. A saw is a process that keeps dying.',
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
