import { registerWebhooks, withDeployment } from '../deployment.js';
import { figure, latencyFigures, type Figure } from '../figures.js';
import { costFigures, observe } from '../observe.js';
import { awaitReceipts, untilSettled, type Receipts } from '../receipts.js';
import { ordersClosedLoop, type SentLog } from '../requests.js';
import { chosen, warmUpOrders } from '../settings.js';
import { allOnPostgres, allOnRedis, apiAnd1, apiAnd2, apiAnd4, type Shape } from '../shapes.js';
import type { Case, Phase } from './phase.js';

/** Orders as fast as clients can place them, each notified to all webhooks. */
export const orders: Phase = {
  name: 'orders',
  title: 'orders in a closed loop, each CREATED to every webhook',
  cases: (settings) => [
    ...chosen(
      settings,
      [allOnRedis, allOnPostgres, apiAnd1, apiAnd2, apiAnd4],
      [allOnRedis, allOnPostgres, apiAnd1],
    ).map((shape) => ordersCase(shape, 'ok')),
    ...chosen(settings, [allOnRedis], []).map((shape) => ordersCase(shape, 'flaky')),
  ],
};

const ordersCase = (shape: Shape, kind: 'ok' | 'flaky'): Case => ({
  title: shape.title + (kind === 'flaky' ? ', 5 % of first attempts answered with 500' : ''),
  run: (system, settings, say) =>
    withDeployment(system, shape, async (deployment) => {
      const { clients, webhooks } = settings;
      const paths = await registerWebhooks(deployment, Array<string>(webhooks).fill(kind));
      await awaitReceipts(
        deployment,
        await ordersClosedLoop(deployment, warmUpOrders(settings), clients),
        paths,
      );
      await untilSettled(deployment);
      const { result, cost } = await observe(deployment, async () => {
        const sent = await ordersClosedLoop(deployment, settings.orders, clients);
        return { sent, receipts: await awaitReceipts(deployment, sent, paths) };
      });
      await untilSettled(deployment);
      const deliveries = settings.orders * webhooks;
      const figures = [
        ...throughputFigures(result.sent, result.receipts, deliveries),
        ...costFigures(cost, deliveries),
      ];
      say(`${Math.round(figures[0]!.value)} deliveries/s`);
      return [{ load: `${settings.orders} orders, ${clients} clients`, figures, details: cost.details }];
    }),
});

function throughputFigures(sent: SentLog, receipts: Receipts, deliveries: number): Figure[] {
  const { firstSentAt, lastRespondedAt, lastArrivedAt, lastDeliveredAt } = receipts;
  const acceptMs = [...sent.times.values()].map(({ sentAt, respondedAt }) => respondedAt - sentAt);
  return [
    figure('deliveries', '/s', (deliveries * 1_000) / (lastArrivedAt - firstSentAt)),
    figure('orders accepted', '/s', (sent.times.size * 1_000) / (lastRespondedAt - firstSentAt)),
    ...latencyFigures('order sent to receipt', receipts.fromSentMs),
    ...latencyFigures('201 to receipt', receipts.fromResponseMs),
    ...latencyFigures('order sent to 201', acceptMs),
    figure('asked to come again (429, 503)', '', sent.refused),
    // Later than the last first attempt only if receivers failed.
    ...(lastDeliveredAt > lastArrivedAt
      ? [figure('all answered with 200 after', 's', (lastDeliveredAt - firstSentAt) / 1_000)]
      : []),
  ];
}
