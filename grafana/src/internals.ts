import { board } from './board.js';
import { below, graph } from './panels.js';
import { apiRoutes, mean, perSecond, quantile, reported } from './promql.js';

const byProcess = '{{job}} {{instance}}';

/** The inside: queues, sweeper, PostgreSQL, processes. */
export const internals = board(
  'internals',
  'Internals',
  'Why is it slow or stuck: queues, sweeper, PostgreSQL, processes, limits.',
  [
    {
      question: 'Does work flow through the queues?',
      panels: [
        graph({
          title: 'Age of the last canary',
          description:
            'Every worker sends a canary job into every queue each 3 s; this is how long ago that or any other job last came out, at whichever worker. ParcelhookQueueNotFlowing fires at 30 s.',
          unit: 's',
          queries: [{ expr: 'min by (queue) (parcelhook_queue_canary_age_seconds)', legend: '{{queue}}' }],
          thresholds: below(15, 30),
        }),
        graph({
          title: 'Jobs',
          description:
            'Jobs by queue and state. The queue stays small whatever the backlog: the rest waits in PostgreSQL.',
          unit: 'short',
          queries: [{ expr: reported('queue_jobs', 'queue, state'), legend: '{{queue}} {{state}}' }],
        }),
        graph({
          title: 'Oldest job',
          description: 'Age of the oldest job that waits. Normal: under a second.',
          unit: 's',
          queries: [{ expr: reported('queue_oldest_waiting_seconds', 'queue'), legend: '{{queue}}' }],
          thresholds: below(10, 60),
        }),
      ],
    },
    {
      question: 'Is anything lost on the way and brought back?',
      panels: [
        graph({
          title: 'Brought back by the sweeper',
          description:
            'Deliveries whose attempt was lost with its worker (its lease of 10 s ran out), and orders nobody saw to. Normal: 0, and for a minute after a crash or a lost Redis.',
          unit: 'ops',
          queries: [{ expr: perSecond('sweeper_reenqueued_total', 'kind'), legend: '{{kind}}' }],
          thresholds: below(1, 10),
        }),
        graph({
          title: 'Oldest lapsed claim',
          description:
            'How long ago the lease ran out of an attempt that nobody has taken up. A worker that dies leaves some, for 2 s.',
          unit: 's',
          queries: [{ expr: reported('oldest_lapsed_claim_seconds'), legend: 'age' }],
          thresholds: below(15, 30),
        }),
        graph({
          title: 'Last walk over the outbox',
          description:
            'Since a worker last came to the end of the outbox, looking for what was lost on the way. 100,000 rows take 10 s.',
          unit: 's',
          queries: [{ expr: `time() - ${reported('outbox_walked_timestamp_seconds')}`, legend: 'age' }],
          thresholds: below(300, 900),
        }),
        graph({
          title: 'Failures of background tasks',
          description: 'Turns that failed, by task. The log says why: "background task failed".',
          unit: 'ops',
          queries: [{ expr: perSecond('background_task_failures_total', 'task'), legend: '{{task}}' }],
          thresholds: below(0.01, 0.1),
        }),
        graph({
          title: 'Turns of background tasks',
          description: 'How long a turn of each task takes on average.',
          unit: 's',
          queries: [{ expr: mean('background_task_duration_seconds', 'task'), legend: '{{task}}' }],
          thresholds: below(5, 10),
        }),
        graph({
          title: 'Late results',
          description:
            'Results refused because the lease of their attempt had been taken away: a worker that hung.',
          unit: 'ops',
          queries: [{ expr: perSecond('late_results_total'), legend: 'late' }],
          thresholds: below(0.1, 1),
        }),
        graph({
          title: 'Age of the figures',
          description:
            'Since a worker last read what is open, waiting and queued from PostgreSQL (every 15 s). Older figures stand still.',
          unit: 's',
          queries: [
            {
              expr: `time() - ${reported('metrics_refreshed_timestamp_seconds')}`,
              legend: 'age',
            },
          ],
          thresholds: below(60, 120),
        }),
      ],
    },
    {
      question: 'Does what was removed or erased go away?',
      panels: [
        graph({
          title: 'Shippers under removal',
          description:
            'Removed shippers of which something is left. Normal: 0, and for some minutes after a removal; longer where a shipper had millions of rows.',
          unit: 'short',
          queries: [{ expr: reported('shippers_to_remove'), legend: 'shippers' }],
        }),
        graph({
          title: 'Rows of removed shippers deleted',
          description:
            'By table, by one worker at a time and with long pauses. Normal: 0 while no shipper is under removal, never while one is.',
          unit: 'ops',
          queries: [{ expr: perSecond('removal_rows_total', 'rows'), legend: '{{rows}}' }],
        }),
        graph({
          title: 'Shipments erased',
          description:
            'Shipments whose personal data was erased: asked for by an operator, or because their last state is longer ago than SHIPMENT_RETENTION.',
          unit: 'ops',
          queries: [{ expr: perSecond('shipments_erased_total', 'cause'), legend: '{{cause}}' }],
        }),
      ],
    },
    {
      question: 'Does PostgreSQL keep up?',
      panels: [
        graph({
          title: 'Connections in use',
          description: 'Busy connections as a share of the pool, the fullest process of each pool.',
          unit: 'percentunit',
          queries: [
            {
              expr: 'max by (pool) (sum by (job, instance, pool) (parcelhook_postgres_pool_connections{state="busy"}) / sum by (job, instance, pool) (parcelhook_postgres_pool_size))',
              legend: '{{pool}}',
            },
          ],
          thresholds: below(0.8, 1),
        }),
        graph({
          title: 'Waiting for a connection',
          description:
            'Callers that wait for a connection, by pool; after 0.9 s they are told 503. Normal: 0.',
          unit: 'short',
          queries: [{ expr: 'sum by (pool) (parcelhook_postgres_pool_waiting)', legend: '{{pool}}' }],
          thresholds: below(1, 20),
        }),
        graph({
          title: 'Oldest snapshot',
          description:
            'How long the oldest transaction in the database has kept dead rows from vacuum: a report, a dump, a forgotten session. Normal: seconds.',
          unit: 's',
          queries: [{ expr: reported('postgres_oldest_snapshot_seconds'), legend: 'oldest' }],
          thresholds: below(600, 1_800),
        }),
        graph({
          title: 'Batch sizes',
          description:
            'Items that shared a statement, on average. They grow with the load; that is what makes it cheap.',
          unit: 'short',
          queries: [{ expr: mean('batch_size', 'batch'), legend: '{{batch}}' }],
        }),
      ],
    },
    {
      question: 'Are the processes healthy?',
      panels: [
        graph({
          title: 'Event loop lag (p99)',
          description:
            'How late the event loop of each process runs: what is measured, less the 50 ms between two looks. ParcelhookEventLoopBlocked fires at 0.25 s.',
          unit: 's',
          queries: [{ expr: 'parcelhook_nodejs_eventloop_lag_p99_seconds - 0.05', legend: byProcess }],
          thresholds: below(0.1, 0.25),
        }),
        graph({
          title: 'CPU',
          description: 'CPU seconds per second of each process. JavaScript runs on one core: 1 is full.',
          unit: 'percentunit',
          queries: [
            { expr: 'rate(parcelhook_process_cpu_seconds_total[$__rate_interval])', legend: byProcess },
          ],
          thresholds: below(0.8, 1),
        }),
        graph({
          title: 'Resident memory',
          description: 'Memory of each process. It must stay under 512 MB, whatever the backlog.',
          unit: 'bytes',
          queries: [{ expr: 'parcelhook_process_resident_memory_bytes', legend: byProcess }],
          thresholds: below(384 * 2 ** 20, 512 * 2 ** 20),
        }),
        graph({
          title: 'Heap',
          description: 'JavaScript heap in use. A saw is normal; its lower edge must not climb.',
          unit: 'bytes',
          queries: [{ expr: 'parcelhook_nodejs_heap_size_used_bytes', legend: byProcess }],
        }),
        graph({
          title: 'Garbage collection',
          description: 'Share of the time spent collecting garbage, by process.',
          unit: 'percentunit',
          queries: [
            {
              expr: 'sum by (job, instance) (rate(parcelhook_nodejs_gc_duration_seconds_sum[$__rate_interval]))',
              legend: byProcess,
            },
          ],
          thresholds: below(0.05, 0.15),
        }),
        graph({
          title: 'Open files',
          description:
            'Files and sockets each process holds open. They follow the load; they must not only climb.',
          unit: 'short',
          queries: [{ expr: 'parcelhook_process_open_fds', legend: byProcess }],
          thresholds: below(5_000, 50_000),
        }),
      ],
    },
    {
      question: 'Which requests are slow or turned away?',
      panels: [
        graph({
          title: 'Time to answer by route (p99)',
          description:
            'By method and route. Login hashes a password and a test waits for a receiver: both are slow by nature.',
          unit: 's',
          queries: [
            {
              expr: quantile(0.99, 'http_request_duration_seconds', 'method, route', `{${apiRoutes}}`),
              legend: '{{method}} {{route}}',
            },
          ],
          thresholds: below(0.5, 2),
        }),
        graph({
          title: 'Requests by route',
          description: 'By method and route; unmatched are wrong paths.',
          unit: 'reqps',
          queries: [
            {
              expr: perSecond('http_request_duration_seconds_count', 'method, route'),
              legend: '{{method}} {{route}}',
            },
          ],
        }),
        graph({
          title: 'Turned away by rate limits',
          description:
            'Requests refused with 429, by limit. login_account and login_ip that climb are guesses at passwords.',
          unit: 'reqps',
          queries: [{ expr: perSecond('rate_limited_total', 'limit'), legend: '{{limit}}' }],
          thresholds: below(1, 10),
        }),
      ],
    },
  ],
);
