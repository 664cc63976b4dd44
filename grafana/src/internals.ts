import { prometheusBoard } from './board.js';
import { engines } from './internals-engines.js';
import { work } from './internals-work.js';
import { below, graph } from './panels.js';
import { apiRoutes, largest, metric, perSecond, quantile } from './promql.js';
import { byProcess, ofProcesses } from './shared.js';

const requestsSeconds = 'http_request_duration_seconds';
const byRoute = '{{method}} {{route}}';

const attemptsByProcess = (matchers: string) =>
  perSecond('delivery_attempts_total', 'environment, job, instance', matchers);

/** The inside: queues, tasks, PostgreSQL, processes. */
export const internals = prometheusBoard({
  name: 'internals',
  title: 'Internals',
  description:
    'Why the service is slow or stuck: slots, queues, tasks, PostgreSQL, Redis, processes, connections, limits.',
  rows: [
    ...work,
    ...engines,
    {
      question: 'Are the processes healthy?',
      panels: [
        ofProcesses(
          'Event loop lag (p99)',
          'How late the event loop of each process runs: the measured delay less the 50 ms between two samples. Normal: under 0.1 s.',
          's',
          `${metric('nodejs_eventloop_lag_p99_seconds')} - 0.05`,
          below(0.1, 0.25),
        ),
        graph({
          title: 'Sender threads: CPU',
          description:
            'Share of a core that each sender thread takes. At 100 % it is full: raise SEND_THREADS.',
          unit: 'percentunit',
          queries: [
            {
              expr: largest(`rate(${metric('sender_thread_busy_seconds_total')}[$__rate_interval])`),
              legend: `${byProcess} {{thread}}`,
            },
          ],
          thresholds: below(0.8, 1),
          ranked: true,
        }),
        graph({
          title: 'Sender threads: delay',
          description:
            'Longest wait of a message for its thread. others: receivers that are slow or unknown.',
          unit: 's',
          queries: [
            { expr: largest(metric('sender_thread_delay_seconds')), legend: `${byProcess} {{thread}}` },
          ],
          thresholds: below(0.1, 0.25),
          ranked: true,
        }),
        ofProcesses(
          'Failing by process',
          'Share of the attempts of each process that fail. A process that stands out has a faulty network, resolver or clock.',
          'percentunit',
          `${attemptsByProcess('outcome!="SUCCEEDED"')} / ${attemptsByProcess('')}`,
        ),
        ofProcesses(
          'CPU',
          'CPU seconds per second of each process. JavaScript runs on one core: 100 % is full.',
          'percentunit',
          `rate(${metric('process_cpu_seconds_total')}[$__rate_interval])`,
          below(0.8, 1),
        ),
        ofProcesses(
          'Resident memory',
          'Memory of each process. It must stay under 512 MB, whatever the backlog.',
          'bytes',
          metric('process_resident_memory_bytes'),
          below(384 * 2 ** 20, 512 * 2 ** 20),
        ),
        ofProcesses(
          'Heap',
          'JavaScript heap in use. A sawtooth is normal; its lower edge must not climb.',
          'bytes',
          metric('nodejs_heap_size_used_bytes'),
        ),
        ofProcesses(
          'Garbage collection',
          'Share of the time spent collecting garbage, by process.',
          'percentunit',
          `sum by (environment, job, instance) (rate(${metric('nodejs_gc_duration_seconds_sum')}[$__rate_interval]))`,
          below(0.05, 0.15),
        ),
        ofProcesses(
          'Open files',
          'Files and sockets that each process holds open. The number follows the load; it must not climb steadily.',
          'short',
          metric('process_open_fds'),
          below(5_000, 50_000),
        ),
        ofProcesses(
          'Open HTTP connections',
          'Connections to each process as a share of MAX_CONNECTIONS.',
          'percentunit',
          `${metric('http_connections')} / (${metric('http_connections_limit')} > 0)`,
          below(0.8, 1),
        ),
        graph({
          title: 'Connections dropped',
          description:
            'refused: there was no room; displaced: an idle one made room for another; overfull: all together held too many bytes. Normal: 0.',
          unit: 'cps',
          queries: [{ expr: perSecond('http_connections_dropped_total', 'reason'), legend: '{{reason}}' }],
          thresholds: below(1, 10),
        }),
        ofProcesses(
          'Draining',
          'Processes that are stopping, at most for SHUTDOWN_DELAY and SHUTDOWN_TIMEOUT together. Empty while none stops.',
          'short',
          `${metric('draining')} == 1`,
        ),
      ],
    },
    {
      question: 'Which requests are slow or turned away?',
      panels: [
        graph({
          title: 'Response time by route (p99)',
          description: 'The ten slowest routes. Routes that are slow by design have their own panel.',
          unit: 's',
          span: 12,
          queries: [
            {
              expr: largest(`${quantile(0.99, requestsSeconds, 'method, route', apiRoutes)} >= 0`),
              legend: byRoute,
            },
          ],
          thresholds: below(0.25, 0.5),
          ranked: true,
        }),
        graph({
          title: 'Slow by design (p99)',
          description:
            'Long polls, tests (which wait for a receiver) and requests that hash passwords. Empty while nobody makes one.',
          unit: 's',
          span: 12,
          queries: [
            {
              expr: largest(`${quantile(0.99, 'http_slow_by_design_duration_seconds', 'route')} >= 0`),
              legend: '{{route}}',
            },
          ],
          ranked: true,
        }),
        graph({
          title: 'Requests by route',
          description: 'The ten busiest routes. Requests for unknown paths are shown as unmatched.',
          unit: 'reqps',
          queries: [{ expr: largest(perSecond('http_requests_total', 'method, route')), legend: byRoute }],
          ranked: true,
        }),
        graph({
          title: 'Requests that failed, by route',
          description: 'Responses with 5xx, and requests that clients gave up (499). Normal: none.',
          unit: 'reqps',
          queries: [
            {
              expr: largest(perSecond('http_requests_total', 'method, route, status', 'status=~"5..|499"')),
              legend: `${byRoute} {{status}}`,
            },
          ],
          ranked: true,
        }),
        graph({
          title: 'Turned away by rate limits',
          description:
            'Requests refused with 429, by limit. When login_account and login_ip climb, someone is guessing passwords.',
          unit: 'reqps',
          queries: [{ expr: perSecond('rate_limited_total', 'limit'), legend: '{{limit}}' }],
          thresholds: below(1, 10),
          ranked: true,
        }),
      ],
    },
  ],
});
