import { registerWebhooks, withDeployment } from '../deployment.js';
import { latencyFigures } from '../figures.js';
import { awaitReceipts, untilSettled } from '../receipts.js';
import { ordersClosedLoop, ordersOpenLoop } from '../requests.js';
import { chosen, warmUpOrders } from '../settings.js';
import { allOnPostgres, allOnRedis, type Shape } from '../shapes.js';
import type { Case, Phase } from './phase.js';

const ordersPerSecond = 30;

/** One receiver accepts requests and never responds: the effect on the others. */
export const hang: Phase = {
  name: 'hang',
  title: `one of the webhooks never answers, ${ordersPerSecond} orders/s: the others`,
  cases: (settings) => chosen(settings, [allOnRedis, allOnPostgres], [allOnRedis]).map(hangCase),
};

const hangCase = (shape: Shape): Case => ({
  title: shape.title,
  run: (system, settings, say) =>
    withDeployment(system, shape, async (deployment) => {
      const healthy = await registerWebhooks(deployment, Array<string>(settings.webhooks - 1).fill('ok'));
      const warm = await ordersClosedLoop(deployment, warmUpOrders(settings), settings.clients);
      await awaitReceipts(deployment, warm, healthy);
      await untilSettled(deployment);
      const measure = async () => {
        const sent = await ordersOpenLoop(deployment, ordersPerSecond, settings.hangSeconds);
        const receipts = await awaitReceipts(deployment, sent, healthy);
        return latencyFigures('order sent to receipt', receipts.fromSentMs);
      };
      const before = await measure();
      await untilSettled(deployment);
      await registerWebhooks(deployment, ['hang']);
      const meanwhile = await measure();
      say(`p50 ${meanwhile[0]!.value.toFixed(1)} ms, p99 ${meanwhile[1]!.value.toFixed(1)} ms`);
      const seconds = `${settings.hangSeconds} s`;
      return [
        { load: `${seconds} with one that hangs: the other ${healthy.length}`, figures: meanwhile },
        { load: `${seconds} just before, without it`, figures: before },
      ];
    }),
});
