import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../support/redis.js';
import { until } from '../bench/scenarios/scenario.js';

export const isInstalled = spawnSync('prometheus', ['--version'], { stdio: 'ignore' }).status === 0;

export interface ScrapeTarget {
  url: string;
  job: string;
  environment: string;
}

export interface Series {
  labels: Record<string, string>;
  values: [time: number, value: number][];
}

export interface Alert {
  alertname: string;
  environment: string;
  severity: string;
}

export interface Prometheus {
  /** When its history begins, in seconds. */
  startedAt: number;
  targets(targets: ScrapeTarget[]): void;
  /** Both reject with what Prometheus says is wrong with the expression. */
  range(expr: string, from: number, to: number, step: number): Promise<Series[]>;
  instant(expr: string, at?: number): Promise<Series[]>;
  labelValues(label: string, selector: string | null): Promise<string[]>;
  /** Alerts that fire, or will unless it ends. */
  active(): Promise<Alert[]>;
  stop(): Promise<void>;
}

const queryWithinMs = 15_000;
const startsWithinMs = 60_000;

/** Starts it in a folder of its own. Scrapes and evaluates every second; ended with this process. */
export async function startPrometheus(
  folder: string,
  rules: string,
  alertmanagerUrl: string,
): Promise<Prometheus> {
  const home = mkdtempSync(join(folder, 'prometheus-'));
  const discovered = join(home, 'targets.json');
  writeFileSync(discovered, '[]');
  writeFileSync(join(home, 'rules.yml'), rules);
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [join(home, 'rules.yml')],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [new URL(alertmanagerUrl).host] }] }] },
    scrape_configs: [
      { job_name: 'parcelhook', file_sd_configs: [{ files: [discovered], refresh_interval: '1s' }] },
    ],
  };
  writeFileSync(join(home, 'prometheus.yml'), JSON.stringify(config)); // JSON is YAML
  const port = await freePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(home, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(home, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      `--query.timeout=${queryWithinMs / 1_000}s`,
      '--log.level=warn',
      '--rules.alert.resend-delay=2s',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)));
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);

  const get = async (path: string, parameters: Record<string, string | number>): Promise<any> => {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(parameters)) query.set(key, String(value));
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}?${query.toString()}`, {
      signal: AbortSignal.timeout(queryWithinMs + 5_000),
    });
    const answer = (await response.json()) as { status: string; error?: string; data: unknown };
    if (answer.status !== 'success') throw new Error(`${answer.error}: ${parameters.query ?? path}`);
    return answer.data;
  };
  const stop = async () => {
    process.off('exit', kill);
    kill();
    await exited;
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  await until('Prometheus answers', startsWithinMs, () => {
    if (child.exitCode !== null) throw new Error(`Prometheus did not start: ${said}`);
    return get('query', { query: '1' }).then(Boolean, () => false);
  }).catch(async (error: unknown) => {
    await stop();
    throw error;
  });

  const seriesOf = ({ metric, values, value }: any): Series => ({
    labels: metric,
    values: (values ?? [value]).map(([time, text]: [number, string]) => [
      time,
      Number(text.replace('Inf', 'Infinity')),
    ]),
  });
  return {
    startedAt: Date.now() / 1_000,
    targets: (targets) => {
      const groups = targets.map(({ url, job, environment }) => ({
        targets: [new URL(url).host],
        labels: { job, environment },
      }));
      writeFileSync(`${discovered}.new`, JSON.stringify(groups));
      renameSync(`${discovered}.new`, discovered);
    },
    range: async (query, start, end, step) =>
      (await get('query_range', { query, start, end, step })).result.map(seriesOf),
    instant: async (query, time) => {
      const { resultType, result } = await get('query', { query, ...(time && { time }) });
      return resultType === 'vector' ? result.map(seriesOf) : [seriesOf({ metric: {}, value: result })];
    },
    labelValues: (label, selector) => get(`label/${label}/values`, selector ? { 'match[]': selector } : {}),
    active: async () =>
      (await get('alerts', {})).alerts.map(({ labels }: { labels: Record<string, string> }) => ({
        alertname: labels.alertname ?? '',
        environment: labels.environment ?? '',
        severity: labels.severity ?? '',
      })),
    stop,
  };
}
