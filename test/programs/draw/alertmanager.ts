import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../support/redis.js';
import { until } from '../bench/scenarios/scenario.js';
import type { Alert } from './prometheus.js';

/** Debian's, or that of the project; null where none is installed. */
export const alertmanagerProgram: string | null =
  ['prometheus-alertmanager', 'alertmanager'].find(
    (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
  ) ?? null;

export interface Alertmanager {
  url: string;
  /** The alerts that reach its receivers: those that fire and are not inhibited. */
  told(): Promise<Alert[]>;
  stop(): Promise<void>;
}

const answersWithinMs = 10_000;
const startsWithinMs = 30_000;

/** Starts it in a folder of its own; it ends with this process. */
export async function startAlertmanager(folder: string, config: string): Promise<Alertmanager> {
  if (!alertmanagerProgram)
    throw new Error('no alertmanager on PATH: apt-get install prometheus-alertmanager');
  const home = mkdtempSync(join(folder, 'alertmanager-'));
  writeFileSync(join(home, 'alertmanager.yml'), config);
  const url = `http://127.0.0.1:${await freePort()}`;
  const child = spawn(
    alertmanagerProgram,
    [
      `--config.file=${join(home, 'alertmanager.yml')}`,
      `--storage.path=${join(home, 'data')}`,
      `--web.listen-address=${new URL(url).host}`,
      '--cluster.listen-address=',
      '--log.level=warn',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)));
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async () => {
    process.off('exit', kill);
    kill();
    await exited;
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  const get = async (path: string): Promise<any> => {
    const response = await fetch(`${url}/api/v2/${path}`, { signal: AbortSignal.timeout(answersWithinMs) });
    if (!response.ok) throw new Error(`Alertmanager answers ${response.status}`);
    return response.json();
  };
  await until('Alertmanager answers', startsWithinMs, () => {
    if (child.exitCode !== null) throw new Error(`Alertmanager did not start: ${said}`);
    return get('status').then(Boolean, () => false);
  }).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return {
    url,
    told: async () =>
      (await get('alerts?active=true&inhibited=false&silenced=false')).map(
        ({ labels }: { labels: Record<string, string> }) => ({
          alertname: labels.alertname ?? '',
          environment: labels.environment ?? '',
          severity: labels.severity ?? '',
        }),
      ),
    stop,
  };
}
