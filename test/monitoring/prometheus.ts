import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../support/until.js';
import { freePort } from '../support/redis.js';

export const inRepository = (path: string): string =>
  fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** prometheus and promtool on PATH; if not, it warns that tests are skipped. */
export function isInstalled(): boolean {
  const found = ['prometheus', 'promtool'].every(
    (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
  );
  if (!found)
    console.warn('\n  NO prometheus AND promtool ON PATH: every test that needs them is LEFT OUT.\n');
  return found;
}

/** NaN included. */
export interface Series {
  labels: Record<string, string>;
  values: number[];
}

export interface Rule {
  name: string;
  query: string;
  health: string;
  lastError?: string;
  type: 'alerting' | 'recording';
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

export interface Prometheus {
  /** Each second since the start. Rejects with the error of Prometheus. */
  query(expr: string): Promise<Series[]>;
  now(expr: string): Promise<number[]>;
  /** The trace ids of the exemplars of its series. */
  traces(expr: string): Promise<string[]>;
  rules(): Promise<Rule[]>;
  stop(): Promise<void>;
}

export interface PrometheusOptions {
  /** Default: those of the repository. */
  rules?: string;
  alertmanager?: string;
  /** The environments by job; `production` for what is not named. */
  environments?: Record<string, string>;
}

/** Starts one of our own, which scrapes each job's base URL, and evaluates rules, every second. */
export async function startPrometheus(
  jobs: Record<string, string>,
  { rules, alertmanager, environments = {} }: PrometheusOptions = {},
): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'parcelhook-prometheus-'));
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [rules ?? inRepository('grafana/prometheus/rules.yml')],
    ...(alertmanager && {
      alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] },
    }),
    scrape_configs: Object.entries(jobs).map(([name, url]) => ({
      job_name: name,
      metrics_path: `${new URL(url).pathname.replace(/\/$/, '')}/metrics`,
      static_configs: [
        { targets: [new URL(url).host], labels: { environment: environments[name] ?? 'production' } },
      ],
    })),
  };
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config)); // JSON is YAML
  const port = await freePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--rules.alert.resend-delay=1s', // an alert sent before Alertmanager is found is lost
      '--enable-feature=exemplar-storage',
      '--log.level=warn',
    ],
    { stdio: 'ignore' },
  );
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const startedAt = Date.now() / 1_000;

  const get = async (path: string): Promise<any> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    const result = (await response.json()) as { status: string; error?: string; data: unknown };
    if (result.status !== 'success') throw new Error(result.error);
    return result.data;
  };
  await until('Prometheus responds', () => get('query?query=1').then(Boolean, () => false), 20_000);

  return {
    query: async (expr) => {
      const end = Date.now() / 1_000;
      const { result } = await get(
        `query_range?query=${encodeURIComponent(expr)}&start=${startedAt}&end=${end}&step=1`,
      );
      return result.map(({ metric, values }: { metric: object; values: [number, string][] }) => ({
        labels: metric,
        values: values.map(([, value]) => Number(value)),
      }));
    },
    now: async (expr) => {
      const { result } = await get(`query?query=${encodeURIComponent(expr)}`);
      return result.map(({ value }: { value: [number, string] }) => Number(value[1]));
    },
    traces: async (expr) => {
      const end = Date.now() / 1_000;
      const series: { exemplars: { labels: { trace_id: string } }[] }[] = await get(
        `query_exemplars?query=${encodeURIComponent(expr)}&start=${startedAt}&end=${end}`,
      );
      return series.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels.trace_id));
    },
    rules: async () => (await get('rules')).groups.flatMap(({ rules }: { rules: Rule[] }) => rules),
    stop: async () => {
      process.off('exit', kill);
      kill();
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
