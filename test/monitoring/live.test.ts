import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../flows/support.js';
import {
  backends,
  startProcess,
  startService,
  stopProcess,
  type RunningProcess,
  type Service,
} from '../harness.js';
import { panels } from './support/dashboards.js';
import { isInstalled, startPrometheus, type Prometheus } from './support/prometheus.js';
import { startTraffic } from './support/traffic.js';

const settings = { RETRY_SCHEDULE: '200ms,200ms', DELIVERY_TIMEOUT: '300ms' };

/** What has no series in this deployment, and why. */
const mayBeEmpty: [RegExp, string][] = [
  [/offset 1d/, 'Prometheus has run for seconds'],
  [/^parcelhook_http_\S+status=~"5\.\."/, 'no request fails'],
];

/** What stays at zero, and why. */
const mayBeZero: [RegExp, string][] = [
  [/ == 0\)/, 'every process is ready'],
  [/rate_limited_total/, 'nobody is turned away'],
  [/sweeper_reenqueued_total/, 'nothing gets lost'],
  [/late_results_total/, 'no worker hangs'],
  [/oldest_lapsed_claim/, 'no worker dies'],
  [/background_task_failures/, 'no task fails'],
  [/postgres_pool_waiting/, 'there are connections enough'],
  [/postgres_oldest_snapshot/, 'no transaction is long'],
  [/status=~"5\.\."/, 'no request fails'],
  [/oldest_waiting_seconds/, 'workers keep up'],
  [/queue_jobs/, 'they take jobs at once, and it is looked every 15 s'],
  [/shippers_to_remove|removal_rows_total/, 'no shipper is removed'],
  [/shipments_erased_total/, 'nothing is erased'],
];

const isListed = (list: [RegExp, string][], expr: string) => list.some(([pattern]) => pattern.test(expr));

(isInstalled() ? describe : describe.skip)(
  'a Prometheus that scrapes an API and a worker under traffic',
  () => {
    let service: Service;
    let worker: RunningProcess;
    let prometheus: Prometheus;

    beforeAll(async () => {
      service = await startService({ role: 'api', backend: backends.at(-1)!, env: settings });
      worker = await startProcess(service.env, 'worker');
      prometheus = await startPrometheus({ 'parcelhook-api': service.url, 'parcelhook-worker': worker.url });
      const sees = async (expr: string) => (await prometheus.query(expr)).length > 0;
      // What happened before the first scrape is no increase.
      await until('Prometheus has scraped both', () => sees('count(parcelhook_build_info) == 2'));
      const traffic = await startTraffic(service);
      await until('Prometheus sees open circuits', () => sees('parcelhook_circuits_open > 0'), 40_000);
      await until('Prometheus sees busy connections', async () => {
        // Longer than from one scrape to the next: orders wait meanwhile.
        await service.sql(
          'begin; lock table shipments in access exclusive mode; select pg_sleep(1.2); commit',
        );
        return sees('parcelhook_postgres_pool_connections{state="busy"} > 0');
      });
      await traffic.stop();
    }, 90_000);
    afterAll(async () => {
      await prometheus?.stop();
      if (worker) await stopProcess(worker);
      await service?.stop();
    });

    /** What is wrong with what Prometheus answers; null if nothing is. */
    const problemOf = async (expr: string): Promise<string | null> => {
      try {
        const figures = (await prometheus.query(expr)).flatMap(({ values }) =>
          values.filter(Number.isFinite),
        );
        if (figures.length === 0) return isListed(mayBeEmpty, expr) ? null : 'has no figure';
        const moves = figures.some((figure) => figure !== 0);
        return moves || isListed(mayBeEmpty, expr) || isListed(mayBeZero, expr) ? null : 'stays at zero';
      } catch (error) {
        return (error as Error).message;
      }
    };
    const problems = async (exprs: string[]): Promise<Record<string, string>> => {
      const found: Record<string, string> = {};
      for (const expr of new Set(exprs)) {
        const problem = await problemOf(expr);
        if (problem) found[expr] = problem;
      }
      return found;
    };

    test('has an answer, and a figure that moves, for every query of every panel', async () => {
      // Grafana's own variable, for a scrape each second.
      const exprs = panels().flatMap(({ queries }) =>
        queries.map(({ expr }) => expr.replaceAll('$__rate_interval', '5s')),
      );
      expect(exprs.filter((expr) => expr.includes('$'))).toEqual([]);
      expect(await problems(exprs)).toEqual({});
    });

    test('evaluates every rule without an error, on series that are there', async () => {
      const rules = await prometheus.rules();
      expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
      const recorded = rules.filter(({ type }) => type === 'recording').map(({ name }) => name);
      const selectors = rules.flatMap(({ query }) => query.match(/parcelhook_\w+(\{[^}]*\})?/g) ?? []);
      expect(await problems([...recorded, ...selectors])).toEqual({});
    });

    test('knows of every alert how bad it is, what it means and where the runbook tells of it', async () => {
      const alerts = (await prometheus.rules()).filter(({ type }) => type === 'alerting');
      for (const { name, labels, annotations } of alerts)
        expect({ name, labels, annotations }).toEqual({
          name,
          labels: { severity: expect.stringMatching(/^(critical|warning)$/) },
          annotations: {
            summary: expect.stringMatching(/\.$/),
            description: expect.stringMatching(/\.$/),
            runbook_url: `docs/runbook.md#${name.toLowerCase()}`,
          },
        });
    });
  },
);
