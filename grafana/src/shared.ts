import { below, graph, percentiles } from './panels.js';
import { failingAttempts, reported } from './promql.js';

/** Panels that stand in more than one dashboard. Functions, since a builder belongs to one of them. */

export const failingShare = () =>
  graph({
    title: 'Failing attempts',
    description:
      'Share of attempts that fail, over all webhooks. The lines are where ParcelhookAttemptsFailing fires: 6 % over 6 hours, 14.4 % over 1 hour.',
    unit: 'percentunit',
    queries: [{ expr: failingAttempts, legend: 'failing' }],
    thresholds: below(0.06, 0.144),
  });

export const oldestWaiting = () =>
  graph({
    title: 'Oldest waiting',
    description:
      'How long the oldest attempt that is due has waited for a worker. Normal: under 10 s. The lines are where ParcelhookDeliveriesLate fires.',
    unit: 's',
    queries: [{ expr: reported('delivery_oldest_waiting_seconds'), legend: 'oldest' }],
    thresholds: below(60, 600),
  });

export const toFirstAttempt = () =>
  graph({
    title: 'Event to first attempt',
    description: 'From the recording of an event to the start of its first attempt: our own part of the way.',
    unit: 's',
    queries: percentiles('event_to_first_attempt_seconds'),
    thresholds: below(2, 30),
  });

export const openDeliveries = () =>
  graph({
    title: 'Open deliveries',
    description:
      'PENDING: due now or at the next retry. SENDING: an attempt is under way, or claimed for one. HELD: waits for its turn, an open circuit or a webhook that is not active. Counted up to 200,000.',
    unit: 'short',
    queries: [{ expr: reported('deliveries_open', 'status'), legend: '{{status}}' }],
    stacked: true,
  });
