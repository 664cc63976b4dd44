import { board } from './board.js';
import { below, graph, percentiles } from './panels.js';
import { perSecond, reported, share } from './promql.js';
import { failingShare, oldestWaiting, openDeliveries, toFirstAttempt } from './shared.js';

const attempts = 'delivery_attempts_total';
const duration = 'delivery_attempt_duration_seconds';

/** The fate of notifications, and its causes. */
export const delivery = board(
  'delivery',
  'Delivery',
  'What becomes of notifications: attempts, retries, circuits, what waits and what was given up.',
  [
    {
      question: 'Do attempts succeed, and if not, why?',
      panels: [
        graph({
          title: 'Attempts by outcome',
          description:
            'HTTP_STATUS and TIMEOUT are answers of receivers. DNS, CONNECT, TLS or RESET for many at once is our own way out.',
          unit: 'ops',
          queries: [{ expr: perSecond(attempts, 'outcome'), legend: '{{outcome}}' }],
          stacked: true,
        }),
        graph({
          title: 'Attempts by status class',
          description: 'By the class of the status code; none where no answer came.',
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
          queries: percentiles(duration, '{outcome="success"}'),
          thresholds: below(1, 10),
        }),
        graph({
          title: 'Duration of failed attempts',
          description: 'Long ones end at DELIVERY_TIMEOUT (15 s): receivers that hang.',
          unit: 's',
          queries: percentiles(duration, '{outcome="failure"}'),
          thresholds: below(5, 15),
        }),
        graph({
          title: 'Slots in use',
          description:
            'Attempts under way as a share of DELIVERY_CONCURRENCY, by worker. Slow ones that gave up their slot count too, so it may pass 100 %.',
          unit: 'percentunit',
          queries: [
            {
              expr: 'parcelhook_attempts_in_flight / (parcelhook_attempt_slots > 0)',
              legend: '{{instance}}',
            },
          ],
          thresholds: below(0.8, 1),
        }),
      ],
    },
    {
      question: 'What waits, and for how long?',
      panels: [openDeliveries(), oldestWaiting(), toFirstAttempt()],
    },
    {
      question: 'Are retries enough?',
      panels: [
        graph({
          title: 'Retries scheduled',
          description: 'Failed attempts that another one follows.',
          unit: 'ops',
          queries: [{ expr: perSecond('retries_scheduled_total'), legend: 'retries' }],
        }),
        graph({
          title: 'Retries used up',
          description: 'Deliveries in the last hour that became FAILED: replay sends them again. Normal: 0.',
          unit: 'short',
          queries: [
            { expr: 'sum (increase(parcelhook_deliveries_exhausted_total[1h]))', legend: 'given up' },
          ],
          thresholds: below(1, 100),
        }),
        graph({
          title: 'Deliveries that failed for good',
          description: 'Share of the deliveries that ended which failed.',
          unit: 'percentunit',
          queries: [
            {
              expr: share(
                perSecond('deliveries_completed_total{status="FAILED"}'),
                perSecond('deliveries_completed_total'),
              ),
              legend: 'failed',
            },
          ],
          thresholds: below(0.001, 0.01),
        }),
      ],
    },
    {
      question: 'Are receivers in trouble?',
      panels: [
        graph({
          title: 'Circuits open',
          description: 'Webhooks that are not called because they keep failing; what they miss is HELD.',
          unit: 'short',
          span: 6,
          queries: [{ expr: reported('circuits_open'), legend: 'open' }],
          thresholds: below(1, 5),
        }),
        graph({
          title: 'Circuits that opened or closed',
          description: 'In the last 10 minutes. Many that open at once share a cause, perhaps ours.',
          unit: 'short',
          span: 6,
          queries: [
            {
              expr: 'sum by (to) (increase(parcelhook_circuit_transitions_total[10m]))',
              legend: '{{to}}',
            },
          ],
        }),
        graph({
          title: 'Webhooks by status',
          description: 'Registered webhooks. DISABLED: answered 410, or five days without one success.',
          unit: 'short',
          span: 6,
          queries: [{ expr: reported('webhooks', 'status'), legend: '{{status}}' }],
        }),
        graph({
          title: 'Webhooks disabled',
          description:
            'Webhooks the service disabled in the last hour. GONE: 410. FAILING: 5 days without success.',
          unit: 'short',
          span: 6,
          queries: [
            {
              expr: 'sum by (reason) (increase(parcelhook_webhooks_disabled_total[1h]))',
              legend: '{{reason}}',
            },
          ],
          thresholds: below(1, 10),
        }),
        graph({
          title: 'Owed to webhooks that are not called',
          description:
            'Deliveries held for webhooks that are paused, disabled, given a rest, or of a suspended shipper; the command `status` says which shippers are owed the most. Counted up to 200,000, as many of each webhook.',
          unit: 'short',
          queries: [{ expr: reported('deliveries_uncalled'), legend: 'owed' }],
        }),
      ],
    },
  ],
);
