import { board } from './board.js';
import { atLeast, below, figure, graph, percentiles } from './panels.js';
import { apiRoutes, failingAttempts, perSecond, quantile, reported, share } from './promql.js';
import { failingShare, oldestWaiting, openDeliveries, toFirstAttempt } from './shared.js';

const requests = 'http_request_duration_seconds';

/** Is it well? */
export const overview = board(
  'overview',
  'Overview',
  'Is the service well: are orders accepted and notifications delivered, and how soon?',
  [
    {
      question: 'Is it well?',
      panels: [
        figure({
          title: 'Alerts firing',
          description: 'Alerts of rules.yml that fire now. Each has a section in docs/runbook.md.',
          unit: 'short',
          queries: [
            {
              expr: 'count(ALERTS{alertname=~"Parcelhook.+", alertstate="firing"}) or vector(0)',
              legend: 'alerts',
            },
          ],
          thresholds: below(1, 1),
        }),
        figure({
          title: 'Ready instances',
          description: 'Processes whose /readyz answered 200 when it was last evaluated.',
          unit: 'short',
          queries: [{ expr: 'sum(parcelhook_ready) or vector(0)', legend: 'ready' }],
          thresholds: atLeast(1),
        }),
        figure({
          title: 'Not ready or down',
          description: 'Processes that are not ready, and targets that Prometheus cannot reach. Normal: 0.',
          unit: 'short',
          queries: [
            {
              expr: '(count(parcelhook_ready == 0) or vector(0)) + (count(up{job=~"parcelhook.*"} == 0) or vector(0))',
              legend: 'not ready',
            },
          ],
          thresholds: below(1, 1),
        }),
        figure({
          title: 'Oldest waiting now',
          description: 'How long the oldest attempt that is due has waited for a worker. Normal: under 10 s.',
          unit: 's',
          queries: [{ expr: reported('delivery_oldest_waiting_seconds'), legend: 'oldest' }],
          thresholds: below(60, 600),
        }),
        figure({
          title: 'Failing attempts now',
          description:
            'Share of attempts that fail. A few per cent are receivers having a bad day; the objective is 1 % over a month.',
          unit: 'percentunit',
          queries: [{ expr: failingAttempts, legend: 'failing' }],
          thresholds: below(0.06, 0.144),
        }),
        figure({
          title: 'Delivered within (p99)',
          description:
            'Time from the recording of an event to its delivery that 99 % stay under, retries included.',
          unit: 's',
          queries: [{ expr: quantile(0.99, 'event_to_success_seconds'), legend: 'p99' }],
          thresholds: below(10, 300),
        }),
      ],
    },
    {
      question: 'Are orders accepted?',
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
              expr: 'sum (rate(parcelhook_orders_accepted_total[$__rate_interval] offset 1d))',
              legend: 'yesterday',
            },
          ],
        }),
        graph({
          title: 'Answers by status',
          description:
            'Answers of the API by HTTP status. 5xx is ours: 503 means PostgreSQL was out of reach and nothing was accepted.',
          unit: 'reqps',
          span: 6,
          queries: [{ expr: perSecond(`${requests}_count{${apiRoutes}}`, 'status'), legend: '{{status}}' }],
          stacked: true,
        }),
        graph({
          title: 'Requests that fail',
          description:
            'Share of requests answered with 5xx. The upper line is where ParcelhookRequestsFailing fires.',
          unit: 'percentunit',
          span: 6,
          queries: [
            {
              expr: share(
                perSecond(`${requests}_count{${apiRoutes}, status=~"5.."}`),
                perSecond(`${requests}_count{${apiRoutes}}`),
              ),
              legend: '5xx',
            },
          ],
          thresholds: below(0.01, 0.05),
        }),
        graph({
          title: 'Time to answer',
          description: 'From a request to the end of its answer, over all routes; by route in Internals.',
          unit: 's',
          span: 6,
          queries: percentiles(requests, `{${apiRoutes}}`),
          thresholds: below(0.5, 2),
        }),
      ],
    },
    {
      question: 'Are notifications delivered?',
      panels: [
        graph({
          title: 'Owed and delivered',
          description:
            'Notifications fanned out to webhooks, and deliveries that succeeded. The two lie on each other unless something waits.',
          unit: 'ops',
          queries: [
            { expr: perSecond('notifications_fanned_out_total'), legend: 'owed' },
            { expr: perSecond('deliveries_completed_total{status="SUCCEEDED"}'), legend: 'delivered' },
          ],
        }),
        failingShare(),
        openDeliveries(),
      ],
    },
    {
      question: 'How soon are they delivered?',
      panels: [
        toFirstAttempt(),
        graph({
          title: 'Event to success',
          description: 'From the recording of an event to the success of its delivery, retries included.',
          unit: 's',
          queries: percentiles('event_to_success_seconds'),
          thresholds: below(10, 300),
        }),
        oldestWaiting(),
      ],
    },
    {
      question: 'What runs?',
      panels: [
        graph({
          title: 'Ready by role',
          description: 'Ready processes by role.',
          unit: 'short',
          queries: [
            {
              expr: 'sum by (role) (parcelhook_ready * on (job, instance) group_left (role) parcelhook_build_info)',
              legend: '{{role}}',
            },
          ],
        }),
        graph({
          title: 'Versions',
          description:
            'Processes by version, version of Node and queue engine: two lines while one is rolled out.',
          unit: 'short',
          queries: [
            {
              expr: 'count by (version, node, queue) (parcelhook_build_info)',
              legend: '{{version}}, Node {{node}}, queue on {{queue}}',
            },
          ],
        }),
        graph({
          title: 'Running for',
          description: 'Time since each process started. A saw is a process that keeps dying.',
          unit: 's',
          queries: [
            { expr: 'time() - parcelhook_process_start_time_seconds', legend: '{{job}} {{instance}}' },
          ],
        }),
      ],
    },
  ],
);
