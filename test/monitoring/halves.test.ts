/** Which half of Overview's first rows is red, told from series as the service exports them in each scene. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../support/until.js';
import { dashboardTexts } from './dashboards.js';
import { isInstalled, startPrometheus, type Prometheus } from './prometheus.js';

type Figures = Record<string, number | null>;

interface Process {
  /** Figures that differ from a healthy process's; null: no series. */
  figures?: Figures;
  /** Killed after it was scraped for a while. */
  isKilled?: boolean;
}

interface Scene {
  api: Process;
  workers: Process[];
  red: 'none' | 'ours' | 'theirs';
}

const requests = (status: number) =>
  `http_requests_total{route="/v1/shipments",method="POST",status="${status}"}`;
const gaveUp = 'http_request_duration_seconds_count{route="/v1/shipments",method="POST",status="499"}';
const ready = 'ready';

/** Histograms are given as how long each measurement took, in seconds; a name with `_total` or `_count` grows. */
const healthy: Figures = {
  [ready]: 1,
  draining: 0,
  sendable_seconds: 0.02,
  order_to_created_seconds: 0.02,
  sendable_deliveries: 0,
  sendable_oldest_seconds: 0,
  orders_uncreated: 0,
  order_oldest_uncreated_seconds: 0,
  'webhooks{status="ACTIVE"}': 3,
  ...Object.fromEntries(
    ['suspended', 'paused', 'disabled', 'circuit', 'slow', 'failing'].map((cause) => [
      `webhooks_unserved{cause="${cause}"}`,
      0,
    ]),
  ),
};
const quiet: Figures = { sendable_seconds: null, order_to_created_seconds: null };
const unknown: Figures = Object.fromEntries(
  Object.keys(healthy)
    .filter((name) => /^(sendable_(d|o)|order_o|orders|webhooks)/.test(name))
    .map((name) => [name, null]),
);

const scenes: Record<string, Scene> = {
  healthy: { api: { figures: { [requests(201)]: 2 } }, workers: [{}, {}], red: 'none' },
  'a quiet night': { api: { figures: quiet }, workers: [{ figures: quiet }], red: 'none' },
  'a slow and a dead receiver': {
    api: { figures: { 'webhooks_unserved{cause="slow"}': 1, 'webhooks_unserved{cause="circuit"}': 1 } },
    workers: [{ figures: { 'webhooks_unserved{cause="slow"}': 1, 'webhooks_unserved{cause="circuit"}': 1 } }],
    red: 'theirs',
  },
  'Redis away': {
    api: {},
    workers: [{ figures: { [ready]: 0, order_to_created_seconds: 7 } }],
    red: 'ours',
  },
  'orders created late': { api: {}, workers: [{ figures: { order_to_created_seconds: 7 } }], red: 'ours' },
  'deliveries sent late': { api: {}, workers: [{ figures: { sendable_seconds: 7 } }], red: 'ours' },
  'one of two workers killed': { api: {}, workers: [{}, { isKilled: true }], red: 'ours' },
  'the last worker killed': { api: {}, workers: [{ isKilled: true }], red: 'ours' },
  'nobody tries what is sendable': {
    api: { figures: { ...quiet, sendable_deliveries: 4, sendable_oldest_seconds: 30 } },
    workers: [{ figures: quiet }],
    red: 'ours',
  },
  'PostgreSQL away': {
    api: { figures: { ...unknown, [ready]: 0, [requests(503)]: 2 } },
    workers: [{ figures: { ...unknown, [ready]: 0 } }],
    red: 'ours',
  },
  'figures not known': { api: { figures: unknown }, workers: [{ figures: unknown }], red: 'ours' },
  'clients that give up on a locked table': {
    api: { figures: { [requests(499)]: 2, [gaveUp]: 2 } },
    workers: [{}],
    red: 'ours',
  },
  'the API killed': { api: { isKilled: true }, workers: [{}], red: 'ours' },
  'all killed': { api: { isKilled: true }, workers: [{ isKilled: true }], red: 'ours' },
};

const bounds = [0.025, 0.05, 0.5, 1, 2, 5, 7.5, 10];

function exposition(role: string, own: Figures, times: number): string {
  const figures: Figures = { ...healthy, [requests(201)]: 1, [requests(500)]: 0, ...own };
  const count = 10 * times;
  return Object.entries(figures)
    .flatMap(([name, figure]) => {
      if (/_(seconds)$/.test(name) && !/oldest/.test(name))
        return [
          ...bounds.map(
            (le) =>
              `parcelhook_${name}_bucket{le="${le}"} ${figure !== null && figure <= le && role !== 'api' ? count : 0}`,
          ),
          `parcelhook_${name}_bucket{le="+Inf"} ${figure !== null && role !== 'api' ? count : 0}`,
          `parcelhook_${name}_count ${figure !== null && role !== 'api' ? count : 0}`,
        ];
      if (figure === null) return [];
      if (name === ready || name === 'draining') return [`parcelhook_${name}{role="${role}"} ${figure}`];
      const grows = /_(total|count)\b/.test(name);
      if (grows && role !== 'api') return [];
      const lines = [`parcelhook_${name} ${grows ? figure * count : figure}`];
      if (name === gaveUp)
        lines.push(`parcelhook_${name.replace('_count', '_bucket').replace('}', ',le="0.5"}')} 0`);
      return lines;
    })
    .join('\n')
    .concat('\n');
}

interface Panel {
  title: string;
  targets: { expr: string }[];
  fieldConfig: {
    defaults: {
      thresholds: { steps: { value: number | null; color: string }[] };
      mappings: { type: string; options: { result: { color: string } } }[];
    };
  };
}

function figuresOf(half: string): Panel[] {
  const { panels } = JSON.parse(dashboardTexts().get('overview.json')!);
  const from = panels.findIndex(({ title }: Panel) => title.startsWith(half));
  const length = panels.slice(from + 1).findIndex(({ type }: { type: string }) => type === 'row');
  return panels.slice(from + 1, from + 1 + length);
}

function colorOf({ fieldConfig: { defaults } }: Panel, value: number): string {
  const [unknownMapping] = defaults.mappings;
  if (Number.isNaN(value)) return unknownMapping!.options.result.color;
  return defaults.thresholds.steps.filter((step) => value >= (step.value ?? -Infinity)).at(-1)!.color;
}

(isInstalled() ? describe : describe.skip)('the first rows of Overview', () => {
  const servers: Server[] = [];
  const killed = new Map<string, Server>();
  let prometheus: Prometheus;

  const nameOf = (scene: string) => scene.replaceAll(' ', '-');

  async function startExporter(
    job: string,
    role: string,
    { figures = {}, isKilled }: Process,
  ): Promise<string> {
    let times = 0;
    const server = createServer((_, response) => {
      times += 1;
      response.setHeader('content-type', 'text/plain');
      response.end(exposition(role, figures, times));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    if (isKilled) killed.set(job, server);
    else servers.push(server);
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const close = (server: Server) =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });

  beforeAll(async () => {
    const jobs: Record<string, string> = {};
    const start = async (job: string, role: string, process: Process) => {
      jobs[job] = await startExporter(job, role, process);
    };
    for (const [scene, { api, workers }] of Object.entries(scenes)) {
      await start(`${nameOf(scene)}-api`, 'api', api);
      for (const [n, worker] of workers.entries())
        await start(`${nameOf(scene)}-worker-${n}`, 'worker', worker);
    }
    prometheus = await startPrometheus(jobs);
    const processes = Object.keys(jobs).length;
    const seen = async (expr: string) => (await prometheus.query(expr)).length > 0;
    await until('all were scraped several times', () =>
      seen(`count(count_over_time(parcelhook_ready[1m]) > 3) == ${processes}`),
    );
    await Promise.all([...killed.values()].map(close));
    // Their number alone would not tell: on a busy machine another one may miss a scrape.
    const gone = [...killed.keys()].join('|');
    await until('Prometheus sees who is gone', () =>
      seen(`count(up{job=~"${gone}"} == 0) == ${killed.size} and count(up == 0) == ${killed.size}`),
    );
  });
  afterAll(async () => {
    await prometheus?.stop();
    await Promise.all([...servers, ...killed.values()].map(close));
  });

  async function redIn(half: string, scene: string): Promise<string[]> {
    const red: string[] = [];
    for (const panel of figuresOf(half))
      for (const { expr } of panel.targets) {
        const filled = expr
          .replaceAll('$environment', '.*')
          .replaceAll('$job', `${nameOf(scene)}-.*`)
          .replaceAll('$instance', '.+');
        const values = await prometheus.now(filled);
        if (values.some((value) => colorOf(panel, value) === 'red')) red.push(panel.title);
      }
    return [...new Set(red)];
  }

  test.each(Object.entries(scenes))('%s: exactly the guilty half is red', async (scene, { red }) => {
    const ours = await redIn('Ours', scene);
    const theirs = await redIn('Theirs', scene);
    const half =
      ours.length > 0 ? (theirs.length > 0 ? 'both' : 'ours') : theirs.length > 0 ? 'theirs' : 'none';
    expect({ half, ours, theirs }).toMatchObject({ half: red });
  });

  test('figures that are absent are red where they are ours, and not where they are theirs', async () => {
    expect(await redIn('Ours', 'figures not known')).toEqual(['Sendable to attempt', 'Order to created']);
    expect(await redIn('Ours', 'all killed')).toEqual(
      expect.arrayContaining(['Sendable to attempt', 'Order to created', 'Ready of expected']),
    );
  });
});
