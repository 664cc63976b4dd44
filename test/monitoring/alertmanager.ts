import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { until } from '../support/until.js';
import { freePort } from '../support/redis.js';
import { inRepository } from './prometheus.js';

/** Whether Debian's Alertmanager is on PATH; where not, it says loudly that tests are left out. */
export function alertmanagerIsInstalled(): boolean {
  const found = ['prometheus-alertmanager', 'amtool'].every(
    (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
  );
  if (!found) console.warn('\n  NO prometheus-alertmanager ON PATH: every test that needs it is LEFT OUT.\n');
  return found;
}

export interface Alert {
  labels: Record<string, string>;
  fingerprint: string;
  status: { state: string; inhibitedBy: string[] };
}

export interface Alertmanager {
  target: string;
  /** Posts alerts as Prometheus would. */
  post(labels: Record<string, string>[]): Promise<void>;
  /** Those that it keeps quiet included. */
  alerts(): Promise<Alert[]>;
  stop(): Promise<void>;
}

/** It has the repository's routes and inhibitions; receivers post to `url`/<name>. `timings` replace every route's. */
export async function startAlertmanager(
  url: string,
  timings: Record<'group_wait' | 'group_interval' | 'repeat_interval', string>,
): Promise<Alertmanager> {
  const folder = mkdtempSync(join(tmpdir(), 'parcelhook-alertmanager-'));
  const config = parse(readFileSync(inRepository('grafana/alertmanager/alertmanager.yml'), 'utf8'));
  for (const route of [config.route, ...config.route.routes])
    for (const [name, time] of Object.entries(timings)) if (route[name] !== '0s') route[name] = time;
  for (const receiver of config.receivers)
    receiver.webhook_configs = [{ url: new URL(receiver.name, url).href, send_resolved: false }];
  const file = join(folder, 'alertmanager.yml');
  writeFileSync(file, JSON.stringify(config)); // JSON is YAML
  const target = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    'prometheus-alertmanager',
    [
      `--config.file=${file}`,
      `--storage.path=${join(folder, 'data')}`,
      `--web.listen-address=${target}`,
      '--cluster.listen-address=',
      '--log.level=error',
    ],
    { stdio: 'ignore' },
  );
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const answers = () =>
    fetch(`http://${target}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until('Alertmanager answers', answers, 20_000);
  return {
    target,
    post: async (labels) => {
      const body = JSON.stringify(labels.map((of) => ({ labels: of })));
      const headers = { 'Content-Type': 'application/json' };
      const { ok } = await fetch(`http://${target}/api/v2/alerts`, { method: 'POST', headers, body });
      if (!ok) throw new Error('Alertmanager takes no alerts');
    },
    alerts: async () => (await (await fetch(`http://${target}/api/v2/alerts`)).json()) as Alert[],
    stop: async () => {
      process.off('exit', kill);
      kill();
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
