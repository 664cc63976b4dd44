import { below, graph } from './panels.js';
import { largest, mean, metric, perSecond, reported } from './promql.js';
import { ofProcesses } from './shared.js';

/** Slots, queues, the sweeper and the tasks by the clock. */
export const work = [
  {
    question: 'Is there room to work, and what is held?',
    panels: [
      ofProcesses(
        'Attempts under way',
        'As a share of DELIVERY_CONCURRENCY, by worker. Attempts to slow receivers have as many slots of their own, so it may reach 200 %.',
        'percentunit',
        `${metric('attempts_in_flight')} / (${metric('attempt_slots')} > 0)`,
        below(0.8, 1),
      ),
      ofProcesses(
        'Attempt slots',
        'Attempts that may be under way to quick receivers, by worker, and as many again to slow ones.',
        'short',
        metric('attempt_slots'),
      ),
      graph({
        title: 'HELD, by cause',
        description:
          'Deliveries that wait for what is not ours. In the API they are HELD by the same causes, in capitals.',
        unit: 'short',
        queries: [{ expr: reported('waiting_deliveries', 'cause'), legend: '{{cause}}' }],
        stacked: true,
      }),
    ],
  },
  {
    question: 'Does work flow through the queues?',
    panels: [
      graph({
        title: 'Age of the last canary',
        description:
          'How long ago a canary or any other job last came out of each queue, at whichever worker. ParcelhookQueueNotFlowing fires at 30 s.',
        unit: 's',
        queries: [{ expr: `min by (queue) (${metric('queue_canary_age_seconds')})`, legend: '{{queue}}' }],
        thresholds: below(15, 30),
      }),
      graph({
        title: 'Jobs',
        description:
          'Jobs by queue and state. The queue stays small whatever the backlog: the rest waits in PostgreSQL.',
        unit: 'short',
        queries: [{ expr: reported('queue_jobs', 'queue, state'), legend: '{{queue}} {{state}}' }],
        ranked: true,
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
          'Deliveries whose attempt was lost with its worker, and orders nobody saw to. Normal: 0, and for a minute after a crash or a lost Redis.',
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
          'Since a process last read what is open, waiting and queued from PostgreSQL (every 15 s). Older figures stand still.',
        unit: 's',
        queries: [{ expr: `time() - ${reported('metrics_refreshed_timestamp_seconds')}`, legend: 'age' }],
        thresholds: below(60, 120),
      }),
      graph({
        title: 'Batch sizes',
        description:
          'Items that shared a statement, on average. They grow with the load; that is what makes it cheap.',
        unit: 'short',
        queries: [{ expr: mean('batch_size', 'batch'), legend: '{{batch}}' }],
        ranked: true,
      }),
    ],
  },
  {
    question: 'Do the background tasks have their turns?',
    panels: [
      graph({
        title: 'Turns missed',
        description:
          'Since the last success of each task at any worker, in intervals of its own. One that reads for long rests up to four.',
        unit: 'short',
        queries: [
          {
            expr: largest(
              `(time() - ${reported('background_task_succeeded_timestamp_seconds', 'task')}) / ${reported('background_task_interval_seconds', 'task')}`,
            ),
            legend: '{{task}}',
          },
        ],
        thresholds: below(5, 10),
        ranked: true,
      }),
      graph({
        title: 'Failures of background tasks',
        description: 'Turns that failed, by task. The log says why: "background task failed".',
        unit: 'ops',
        queries: [{ expr: largest(perSecond('background_task_failures_total', 'task')), legend: '{{task}}' }],
        thresholds: below(0.01, 0.1),
        ranked: true,
      }),
      graph({
        title: 'Turns of background tasks',
        description: 'How long a turn of each task takes on average.',
        unit: 's',
        queries: [{ expr: largest(mean('background_task_duration_seconds', 'task')), legend: '{{task}}' }],
        thresholds: below(5, 10),
        ranked: true,
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
          'By table, by one worker at a time and with long pauses. Never 0 while a shipper is under removal.',
        unit: 'ops',
        queries: [{ expr: perSecond('removal_rows_total', 'rows'), legend: '{{rows}}' }],
        ranked: true,
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
    question: 'Is the feed read?',
    panels: [
      ofProcesses(
        'Readers that wait',
        'Requests for the feed that wait for events, by process. One reader waits nearly always.',
        'short',
        metric('feed_waiting'),
      ),
      graph({
        title: 'Pages of the feed',
        description: 'Answers with events, by status.',
        unit: 'reqps',
        queries: [
          { expr: perSecond('http_requests_total', 'status', 'route="/v1/events"'), legend: '{{status}}' },
        ],
      }),
      graph({
        title: 'Readers turned away',
        description: 'Requests for the feed refused with 429: too many wait at once.',
        unit: 'reqps',
        queries: [{ expr: perSecond('rate_limited_total', 'limit', 'limit="feed"'), legend: '{{limit}}' }],
        thresholds: below(1, 10),
      }),
    ],
  },
];
