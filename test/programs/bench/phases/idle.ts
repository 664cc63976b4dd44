import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../clock.js';
import { registerWebhooks, withDeployment } from '../deployment.js';
import { figure } from '../figures.js';
import { cpuBetween, cpuOf, systemCpuUs } from '../observe.js';
import { rssBytes } from '../processes.js';
import { awaitReceipts, untilSettled } from '../receipts.js';
import { ordersClosedLoop } from '../requests.js';
import { chosen, warmUpOrders } from '../settings.js';
import { allOnPostgres, allOnRedis, type Shape } from '../shapes.js';
import type { Case, Phase } from './phase.js';

/** Idle after some load. */
export const idle: Phase = {
  name: 'idle',
  title: 'nothing to do: CPU in % of one core',
  cases: (settings) => chosen(settings, [allOnPostgres, allOnRedis], [allOnPostgres]).map(idleCase),
};

const idleCase = (shape: Shape): Case => ({
  title: shape.title,
  run: (system, settings, say) =>
    withDeployment(system, shape, async (deployment) => {
      const paths = await registerWebhooks(deployment, Array<string>(settings.webhooks).fill('ok'));
      const sent = await ordersClosedLoop(deployment, warmUpOrders(settings), settings.clients);
      await awaitReceipts(deployment, sent, paths);
      await untilSettled(deployment);
      await sleep(settings.idleSettleSeconds * 1_000);
      const before = cpuOf(deployment, []);
      const startedAt = now();
      await sleep(settings.idleSeconds * 1_000);
      deployment.check();
      const cpuUs = cpuBetween(before, cpuOf(deployment, []));
      const elapsedUs = (now() - startedAt) * 1_000;
      const percent = (us: number) => (us / elapsedUs) * 100;
      say(`${percent(systemCpuUs(cpuUs)).toFixed(2)} % of a core`);
      const of = Object.entries(cpuUs).filter(([name]) => name !== 'load');
      return [
        {
          load: `${settings.idleSeconds} s without a load`,
          figures: [
            figure('CPU: total', '%', percent(systemCpuUs(cpuUs))),
            ...of.map(([name, us]) => figure(`CPU: ${name}`, '%', percent(us))),
            ...deployment.processes.map(({ role, pid }) =>
              figure(`RSS, ${role}`, 'MB', rssBytes(pid) / 2 ** 20),
            ),
          ],
        },
      ];
    }),
});
