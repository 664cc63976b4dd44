import { below, graph } from './panels.js';
import { largest, mean, metric, perSecond, reported } from './promql.js';
import { ofProcesses } from './shared.js';

/** Places, queues, the sweeper and the tasks by the clock. */
export const work = [
  {
    question: 'Are there free places, and what is held?',
    panels: [
      ofProcesses(
        'Attempts under way',
        'Attempts as a share of DELIVERY_CONCURRENCY, by worker. Slow receivers have as many places of their own, so the share may reach 200 %.',
        'percentunit',
        `${metric('attempts_in_flight')} / (${metric('attempt_slots')} > 0)`,
        below(0.8, 1),
      ),
      ofProcesses(
        'Attempt places',
        'Attempts that may be under way to quick receivers, by worker. Slow receivers have as many again.',
        'short',
        metric('attempt_slots'),
      ),
      graph({
        title: 'HELD, by cause',
        description:
          'Deliveries that wait for something other than us. In the API they are HELD by the same causes, in capitals.',
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
          'How long ago any worker last got a canary or another job from each queue. ParcelhookQueueNotFlowing fires at 30 s.',
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
        description: 'Age of the oldest waiting job. Normal: under a second.',
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
          'Deliveries whose worker died during the attempt, and orders whose job was lost. Normal: 0, except for a minute after a crash or the loss of Redis.',
        unit: 'ops',
        queries: [{ expr: perSecond('sweeper_reenqueued_total', 'kind'), legend: '{{kind}}' }],
        thresholds: below(1, 10),
      }),
      graph({
        title: 'Oldest expired claim',
        description:
          'Time since the oldest expired lease ended, of a delivery that no worker has taken over. A worker that dies leaves some for 2 s.',
        unit: 's',
        queries: [{ expr: reported('oldest_lapsed_claim_seconds'), legend: 'age' }],
        thresholds: below(15, 30),
      }),
      graph({
        title: 'Last walk over the outbox',
        description:
          'Time since a worker last reached the end of the outbox, looking for lost deliveries. 100,000 rows take 10 s.',
        unit: 's',
        queries: [{ expr: `time() - ${reported('outbox_walked_timestamp_seconds')}`, legend: 'age' }],
        thresholds: below(300, 900),
      }),
      graph({
        title: 'Late results',
        description: 'Results refused because the lease of their attempt had expired: a worker hung.',
        unit: 'ops',
        queries: [{ expr: perSecond('late_results_total'), legend: 'late' }],
        thresholds: below(0.1, 1),
      }),
      graph({
        title: 'Age of the figures',
        description:
          'Time since a process last read the figures of open, waiting and queued work (every 15 s). Until the next read they do not change.',
        unit: 's',
        queries: [{ expr: `time() - ${reported('metrics_refreshed_timestamp_seconds')}`, legend: 'age' }],
        thresholds: below(60, 120),
      }),
      graph({
        title: 'Batch sizes',
        description:
          'Average number of items that share a statement. It grows with the load, which makes high load cheap.',
        unit: 'short',
        queries: [{ expr: mean('batch_size', 'batch'), legend: '{{batch}}' }],
        ranked: true,
      }),
    ],
  },
  {
    question: 'Do the background tasks run on time?',
    panels: [
      graph({
        title: 'Runs missed',
        description:
          'Time since each task last succeeded on any worker, in units of its interval. After a long read a task rests for up to four.',
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
        description: 'Runs that failed, by task. The log says why: "background task failed".',
        unit: 'ops',
        queries: [{ expr: largest(perSecond('background_task_failures_total', 'task')), legend: '{{task}}' }],
        thresholds: below(0.01, 0.1),
        ranked: true,
      }),
      graph({
        title: 'Runs of background tasks',
        description: 'Average duration of a run, by task.',
        unit: 's',
        queries: [{ expr: largest(mean('background_task_duration_seconds', 'task')), legend: '{{task}}' }],
        thresholds: below(5, 10),
        ranked: true,
      }),
    ],
  },
  {
    question: 'Is removed and erased data deleted?',
    panels: [
      graph({
        title: 'Shippers under removal',
        description:
          'Removed shippers that still have rows. Normal: 0, except for some minutes after a removal; longer if a shipper had millions of rows.',
        unit: 'short',
        queries: [{ expr: reported('shippers_to_remove'), legend: 'shippers' }],
      }),
      graph({
        title: 'Rows of removed shippers deleted',
        description:
          'Rows deleted, by table. One worker at a time deletes them, with long pauses; the rate is never 0 while a shipper is under removal.',
        unit: 'ops',
        queries: [{ expr: perSecond('removal_rows_total', 'rows'), legend: '{{rows}}' }],
        ranked: true,
      }),
      graph({
        title: 'Shipments erased',
        description:
          'Shipments whose personal data was erased, because an operator requested it or because their last state is older than SHIPMENT_RETENTION.',
        unit: 'ops',
        queries: [{ expr: perSecond('shipments_erased_total', 'cause'), legend: '{{cause}}' }],
      }),
    ],
  },
  {
    question: 'Are e-mails sent?',
    panels: [
      graph({
        title: 'Oldest e-mail',
        description:
          'Age of the oldest e-mail that is owed. ParcelhookMailsNotSent fires at 15 minutes, unless others are sent.',
        unit: 's',
        queries: [{ expr: reported('mail_oldest_owed_seconds'), legend: 'age' }],
        thresholds: below(300, 900),
      }),
      graph({
        title: 'E-mails',
        description:
          'Attempts to send one, by outcome. Refused means that the mail server will never take it, expired that it was given up after a day.',
        unit: 'ops',
        queries: [{ expr: perSecond('mails_total', 'outcome'), legend: '{{outcome}}' }],
      }),
    ],
  },
  {
    question: 'Is the feed read?',
    panels: [
      ofProcesses(
        'Readers that wait',
        'Requests for the feed that wait for events, by process. A reader waits most of the time.',
        'short',
        metric('feed_waiting'),
      ),
      graph({
        title: 'Pages of the feed',
        description: 'Responses with events, by status.',
        unit: 'reqps',
        queries: [
          { expr: perSecond('http_requests_total', 'status', 'route="/v1/events"'), legend: '{{status}}' },
        ],
      }),
      graph({
        title: 'Readers turned away',
        description: 'Requests for the feed refused with 429 because too many wait at once.',
        unit: 'reqps',
        queries: [{ expr: perSecond('rate_limited_total', 'limit', 'limit="feed"'), legend: '{{limit}}' }],
        thresholds: below(1, 10),
      }),
    ],
  },
];
