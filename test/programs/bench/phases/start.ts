import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { operatorToken } from '../../../support/process.js';
import { serviceEnv, withDatabase } from '../deployment.js';
import { figure } from '../figures.js';
import { median } from '../percentiles.js';
import { startServiceProcess } from '../service-process.js';
import { chosen } from '../settings.js';
import { allOnPostgres, allOnRedis, type Shape } from '../shapes.js';
import type { System } from '../system.js';
import type { Case, Phase } from './phase.js';

/** Measures from the start of the program to `/readyz`, with existing tables. */
export const start: Phase = {
  name: 'start',
  title: 'a start after the first, until /readyz answers 200',
  cases: (settings) => [
    ...chosen(settings, [allOnRedis, allOnPostgres], [allOnRedis]).map(onRunningEngines),
    ...(settings.shapes ? [] : [embedded]),
  ],
};

const onRunningEngines = (shape: Shape): Case => ({
  title: `${shape.title}, engines running`,
  run: (system, { starts }, say) =>
    withDatabase(system, (databaseUrl) =>
      startAgain(system, serviceEnv(system, shape, databaseUrl), starts, say),
    ),
});

const embedded: Case = {
  title: 'role all with its own embedded PostgreSQL, which starts with it',
  run: async (system, { starts }, say) => {
    const dataDir = join(system.folder, 'embedded');
    await rm(dataDir, { recursive: true, force: true });
    return startAgain(
      system,
      { DATA_DIR: dataDir, OPERATOR_TOKEN: operatorToken, ...system.env },
      starts,
      say,
    );
  },
};

async function startAgain(
  system: System,
  env: Record<string, string>,
  starts: number,
  say: (line: string) => void,
) {
  const readyMs: number[] = [];
  for (let n = 0; n <= starts; n += 1) {
    const service = await startServiceProcess(system.build, 'all', env, join(system.folder, 'start.log'));
    readyMs.push(service.readyMs);
    await service.stop();
  }
  const againMs = median(readyMs.slice(1));
  say(`${Math.round(againMs)} ms`);
  return [
    {
      load: starts > 1 ? `the median of ${starts}` : 'once',
      figures: [figure('start to ready', 'ms', againMs), figure('the very first start', 'ms', readyMs[0]!)],
    },
  ];
}
