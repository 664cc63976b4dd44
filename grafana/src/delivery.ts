import { prometheusBoard } from './board.js';
import { below, graph, percentiles } from './panels.js';
import { none, perSecond, reported, share } from './promql.js';
import { late, oldestSendable, orderToCreated, owed, sendable } from './shared.js';

/** The way of a notification, and how soon it goes each part. */
export const delivery = prometheusBoard({
  name: 'delivery',
  title: 'Delivery',
  description:
    'The path from an order to a delivered notification: how long each part takes, what waits, and what is retried.',
  rows: [
    {
      question: 'Are sendable deliveries attempted at once?',
      panels: [
        sendable(),
        oldestSendable(),
        late(
          'Attempted late',
          'Share of the deliveries in 5 minutes that waited longer than 5 s for us. Objective: 1 % over 30 days; the upper line pages.',
          'sendable_seconds',
          5,
        ),
      ],
    },
    {
      question: 'Are orders created at once?',
      panels: [
        orderToCreated(),
        graph({
          title: 'Orders not created',
          description:
            'Accepted orders whose shipment is not CREATED yet. An event for such an order creates its shipment first.',
          unit: 'short',
          span: 4,
          queries: [{ expr: reported('orders_uncreated'), legend: 'orders' }],
        }),
        graph({
          title: 'Oldest order not created',
          description: 'How long the oldest such order has waited. Normal: under a second.',
          unit: 's',
          span: 4,
          queries: [
            {
              expr: `${reported('order_oldest_uncreated_seconds')} or ${none(reported('orders_uncreated'))}`,
              legend: 'oldest',
            },
          ],
          thresholds: below(0.5, 1),
        }),
        late(
          'Created late',
          'Share of the orders in 5 minutes that took longer than 1 s. Objective: 1 % over 30 days; the upper line pages.',
          'order_to_created_seconds',
          1,
        ),
      ],
    },
    {
      question: 'How soon is an event delivered, slow receivers included?',
      panels: [
        graph({
          title: 'Event to first attempt',
          description:
            'Time from the recording of an event to its first attempt, including the wait for its turn and its receiver.',
          unit: 's',
          queries: percentiles('event_to_first_attempt_seconds'),
        }),
        graph({
          title: 'Event to success',
          description:
            'Time from the recording of an event to the success of its delivery, including retries.',
          unit: 's',
          queries: percentiles('event_to_success_seconds'),
        }),
        graph({
          title: 'Events recorded',
          description: 'State events committed, by state.',
          unit: 'ops',
          queries: [{ expr: perSecond('events_recorded_total', 'state'), legend: '{{state}}' }],
          stacked: true,
          ranked: true,
        }),
      ],
    },
    {
      question: 'What is waiting, and for what?',
      panels: [
        owed(),
        graph({
          title: 'Open deliveries',
          description:
            'PENDING: due now or at the next retry; SENDING: an attempt is under way; HELD: its webhook is not called, or an earlier state is owed. The same maximum for each webhook, about 50,000 in all.',
          unit: 'short',
          queries: [{ expr: reported('deliveries_open', 'status'), legend: '{{status}}' }],
          stacked: true,
        }),
        graph({
          title: 'Oldest waiting',
          description: 'How long the oldest due attempt has waited for a worker or for its slow receiver.',
          unit: 's',
          queries: [{ expr: reported('delivery_oldest_waiting_seconds'), legend: 'oldest' }],
        }),
      ],
    },
    {
      question: 'Are retries enough?',
      panels: [
        graph({
          title: 'Retries scheduled',
          description: 'Failed attempts that will be retried.',
          unit: 'ops',
          queries: [{ expr: perSecond('retries_scheduled_total'), legend: 'retries' }],
        }),
        graph({
          title: 'Ended, by status',
          description:
            'Deliveries that ended with an attempt. FAILED: the retries are used up; a replay sends the delivery again.',
          unit: 'ops',
          queries: [{ expr: perSecond('deliveries_completed_total', 'status'), legend: '{{status}}' }],
          stacked: true,
        }),
        graph({
          title: 'Failed for good',
          description: 'Share of finished deliveries that failed. Normal: 0.',
          unit: 'percentunit',
          queries: [
            {
              expr: share(
                perSecond('deliveries_completed_total', '', 'status="FAILED"'),
                perSecond('deliveries_completed_total'),
              ),
              legend: 'failed',
            },
          ],
          thresholds: below(0.001, 0.01),
        }),
      ],
    },
  ],
});
