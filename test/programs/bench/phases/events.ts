import { registerWebhooks, withDeployment } from '../deployment.js';
import { figure, latencyFigures, type Measured } from '../figures.js';
import { costFigures, observe } from '../observe.js';
import { awaitReceipts, untilSettled } from '../receipts.js';
import { eventsInBulk, ordersClosedLoop } from '../requests.js';
import { chosen } from '../settings.js';
import { allOnPostgres, allOnRedis, apiAnd1, apiAnd2, apiAnd4, type Shape } from '../shapes.js';
import type { Case, Phase } from './phase.js';

const eventsPerRequest = 100;
const requestsAtOnce = 4;

/** The states after CREATED in the default catalogue; those with a place are reported. */
export const way = [
  { state: 'PICKED_UP', place: '2nd' },
  { state: 'IN_TRANSIT', place: '3rd' },
  { state: 'OUT_FOR_DELIVERY' },
  { state: 'DELIVERY_FAILED' },
  { state: 'OUT_FOR_DELIVERY', place: '6th' },
];

/** Sends events by the operator's API, as fast as a few concurrent bulk requests allow. */
export const events: Phase = {
  name: 'events',
  title: `events in bulk (${eventsPerRequest} a request, ${requestsAtOnce} at a time), each to every webhook`,
  cases: (settings) =>
    chosen(settings, [allOnRedis, allOnPostgres, apiAnd1, apiAnd2, apiAnd4], [apiAnd2]).map(eventsCase),
};

const eventsCase = (shape: Shape): Case => ({
  title: shape.title,
  run: (system, settings, say) =>
    withDeployment(system, shape, async (deployment) => {
      const paths = await registerWebhooks(deployment, Array<string>(settings.webhooks).fill('ok'));
      const placed = await ordersClosedLoop(deployment, settings.orders, settings.clients);
      await awaitReceipts(deployment, placed, paths);
      await untilSettled(deployment);
      const trackingIds = [...placed.times.keys()];
      const deliveries = trackingIds.length * paths.length;
      const measured: Measured[] = [];
      for (const { state, place } of way) {
        const record = async () => {
          const sent = await eventsInBulk(deployment, trackingIds, state, eventsPerRequest, requestsAtOnce);
          return { ...(await awaitReceipts(deployment, sent, paths)), refused: sent.refused };
        };
        if (place === undefined) {
          await record();
        } else {
          const { result, cost } = await observe(deployment, record);
          const { firstSentAt, lastRespondedAt, lastArrivedAt, fromSentMs, refused } = result;
          const perSecond = (deliveries * 1_000) / (lastArrivedAt - firstSentAt);
          say(`${place} state: ${Math.round(perSecond)} deliveries/s`);
          measured.push({
            load: `${trackingIds.length} events, the ${place} state of each shipment (${state})`,
            figures: [
              figure('deliveries', '/s', perSecond),
              figure('events recorded', '/s', (trackingIds.length * 1_000) / (lastRespondedAt - firstSentAt)),
              ...latencyFigures('event sent to receipt', fromSentMs),
              figure('asked to come again (429, 503)', '', refused),
              ...costFigures(cost, deliveries),
            ],
            details: cost.details,
          });
        }
        await untilSettled(deployment);
      }
      return measured;
    }),
});
