import { registerWebhooks, withDeployment, type Deployment } from '../deployment.js';
import { figure, latencyFigures, type Measured } from '../figures.js';
import { costFigures, observe } from '../observe.js';
import { awaitReceipts, untilSettled } from '../receipts.js';
import { eventsOpenLoop, ordersClosedLoop, ordersOpenLoop, type SentLog } from '../requests.js';
import { chosen, warmUpOrders, type Settings } from '../settings.js';
import { allOnPostgres, allOnRedis, apiAnd1, type Shape } from '../shapes.js';
import type { Case, Phase } from './phase.js';

/** Loads at a steady rate, independent of the responses, as in normal operation. */
export const rates: Phase = {
  name: 'rates',
  title: 'fixed rates (open loop), each order or event to every webhook',
  cases: (settings) =>
    chosen(settings, [allOnRedis, allOnPostgres, apiAnd1], [allOnRedis]).map((shape) =>
      ratesCase(shape, settings),
    ),
};

const ratesCase = (shape: Shape, { rateSeconds, orderRates, clients, burst, webhooks }: Settings): Case => ({
  title: shape.title,
  run: (system, settings, say) =>
    withDeployment(system, shape, async (deployment) => {
      const paths = await registerWebhooks(deployment, Array<string>(webhooks).fill('ok'));
      const fullLoad = async (count: number) => {
        const sent = await ordersClosedLoop(deployment, count, clients);
        return { sent, receipts: await awaitReceipts(deployment, sent, paths) };
      };
      const { sent: placed } = await fullLoad(warmUpOrders(settings));
      await untilSettled(deployment);

      const measured: Measured[] = [];
      const measure = async (load: string, what: 'order' | 'event', send: () => Promise<SentLog>) => {
        const one = await measureRate(deployment, paths, load, what, send);
        say(
          `${load}: p50 ${one.figures[0]!.value.toFixed(1)} ms, p99 ${one.figures[1]!.value.toFixed(1)} ms`,
        );
        measured.push(one);
      };
      const orders = (perSecond: number) => () => ordersOpenLoop(deployment, perSecond, rateSeconds);
      if (orderRates) {
        for (const perSecond of orderRates)
          await measure(`${perSecond} orders/s`, 'order', orders(perSecond));
        return measured;
      }
      const onTheWay = [...placed.times.keys()].slice(0, 10 * rateSeconds);

      await measure('10 orders/s', 'order', orders(10));
      await measure('60 orders/s', 'order', orders(60));
      await measure('10 events/s', 'event', () => eventsOpenLoop(deployment, onTheWay, 'PICKED_UP', 10));
      const { sent, receipts } = await fullLoad(Math.ceil(burst / webhooks));
      await deployment.receiver.reset(); // without waiting: right after it
      await measure(`60 orders/s right after a burst of ${burst} deliveries`, 'order', orders(60));
      const fullPerSecond = (sent.times.size * 1_000) / (receipts.lastArrivedAt - receipts.firstSentAt);
      await measure('half of the full load of orders', 'order', orders(fullPerSecond / 2));
      return measured;
    }),
});

async function measureRate(
  deployment: Deployment,
  paths: string[],
  load: string,
  what: 'order' | 'event',
  send: () => Promise<SentLog>,
): Promise<Measured> {
  const { result, cost } = await observe(deployment, async () => {
    const sent = await send();
    return { sent, receipts: await awaitReceipts(deployment, sent, paths) };
  });
  await untilSettled(deployment);
  const { receipts, sent } = result;
  const deliveries = sent.times.size * paths.length;
  return {
    load,
    figures: [
      ...latencyFigures(`${what} sent to receipt`, receipts.fromSentMs),
      ...latencyFigures(`${what} answered to receipt`, receipts.fromResponseMs),
      figure('deliveries', '/s', (deliveries * 1_000) / (receipts.lastArrivedAt - receipts.firstSentAt)),
      figure('asked to come again (429, 503)', '', sent.refused),
      ...costFigures(cost, deliveries),
    ],
    details: cost.details,
  };
}
