import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/until.js';
import { operator, placeOrder, registerAccount, registerWebhook, type Account } from '../support/client.js';
import { startLoad } from '../support/load.js';
import { startReceiver } from '../support/receiver.js';
import { startServiceOfRole, type Service } from '../support/harness.js';
import { startProcess, stopProcess, type RunningProcess } from '../support/process.js';
import { expressions, interpolated } from './dashboards.js';
import { startNodeExporter, type NodeExporter } from './node-exporter.js';
import { isInstalled, startPrometheus, type Prometheus } from './prometheus.js';

const settings = { RETRY_SCHEDULE: '200ms,200ms', DELIVERY_TIMEOUT: '300ms' };

/** Each has its reason in this deployment. */
const emptyHere: [RegExp, string][] = [
  [/parcelhook_mail_oldest/, 'no mail server is set'],
  [/offset 1d/, 'Prometheus has run for seconds'],
  [/ALERTS/, 'alerts wait for longer than this test lasts'],
  [/draining.+ == 1\)/, 'no process stops'],
  [/slow_by_design/, 'nobody logs in during the last seconds'],
  [/_limit_bytes/, 'no limit is set'],
  [/^parcelhook_http_\S+status=~"5\.\."/, 'no request fails'],
  [/^parcelhook_http_\S+status="499"/, 'no client gives up'],
  [/^parcelhook:\w+_cause:max/, 'no alert that others follow from fires'],
  [/redis_memory|database_size_limit/, 'there is no Redis, or there is no limit'],
  [/postgres_(slot|standby|archive)/, 'no standby, and nothing is archived; copies.test.ts has them'],
  [/^parcelhook_ready\{role="all"\}$/, 'no process has all roles'],
];

/** Each has its reason. */
const mayBeZero: [RegExp, string][] = [
  [/ == 0\)/, 'every process is ready'],
  [/rate_limited_total/, 'nobody is turned away'],
  [/sweeper_reenqueued_total/, 'nothing gets lost'],
  [/late_results_total/, 'no worker hangs'],
  [/feed_waiting|limit="feed"/, 'nobody reads the feed'],
  [/connections_dropped/, 'there is room for all'],
  [/uncreated|sendable_(deliveries|oldest)/, 'workers keep up'],
  [/retention_behind/, 'nothing is old'],
  [/oldest_lapsed_claim/, 'no worker dies'],
  [/sender_threads_lost/, 'nor does one of its threads'],
  [/background_task_failures/, 'no task fails'],
  [/postgres_pool_waiting/, 'there are connections enough'],
  [/postgres_oldest_snapshot/, 'no transaction is long'],
  [/status=~"5\.\."/, 'no request fails'],
  [/route="\/v1\/login",status="503"/, 'no login is refused'],
  [/oldest_waiting_seconds/, 'workers keep up'],
  [/queue_jobs/, 'they take jobs at once, and it is looked every 15 s'],
  [/shippers_to_remove|removal_rows_total/, 'no shipper is removed'],
  [/shipments_erased_total/, 'nothing is erased'],
  [/parcelhook_mails_total/, 'no mail is sent'],
  [/^1 - .+(order_to_created|sendable)_seconds_bucket/, 'nothing is late'],
  [
    /cause="(receiver|slow|failing)"/,
    'these figures are read every 15 s, and no receiver is slow for as long',
  ],
  [/route="\/v1\/events"/, 'nobody reads the feed'],
  [/status=~"5\.\.\|499"/, 'no request fails'],
  [/^parcelhook:\w+(late|slow|failing):ratio/, 'nothing is late and nothing fails'],
  [/draining/, 'no process stops'],
  [/postgres_standbys/, 'PostgreSQL has no standby'],
];

const isListed = (list: [RegExp, string][], expr: string) => list.some(([pattern]) => pattern.test(expr));

(isInstalled() ? describe : describe.skip)(
  'a Prometheus that scrapes an API and a worker under traffic',
  () => {
    let service: Service;
    let worker: RunningProcess;
    let machine: NodeExporter | null;
    let prometheus: Prometheus;

    beforeAll(async () => {
      service = await startServiceOfRole('api', settings);
      worker = await startProcess(service.env, 'worker');
      machine = await startNodeExporter();
      prometheus = await startPrometheus({
        'parcelhook-api': service.url,
        'parcelhook-worker': worker.url,
        ...(machine && { 'parcelhook-node': machine.url }),
      });
      const sees = async (expr: string) => (await prometheus.query(expr)).length > 0;
      // Prometheus sees no increase before its first scrape.
      await until('Prometheus has scraped both', () => sees('count(parcelhook_build_info) == 2'));
      const traffic = await startTraffic(service);
      await until('Prometheus sees open circuits', () => sees('parcelhook_circuits_open > 0'), 40_000);
      await until('Prometheus sees busy connections', async () => {
        // Longer than the scrape interval: orders wait meanwhile.
        await service.sql(
          'begin; lock table shipments in access exclusive mode; select pg_sleep(1.2); commit',
        );
        return sees('parcelhook_postgres_pool_connections{state="busy"} > 0');
      });
      await traffic.stop();
    });
    afterAll(async () => {
      await prometheus?.stop();
      await machine?.stop();
      if (worker) await stopProcess(worker);
      await service?.stop();
    });

    const mayBeEmpty = (expr: string) =>
      isListed(emptyHere, expr) || (!machine && /node_filesystem|parcelhook_backup/.test(expr));
    const problemOf = async (expr: string): Promise<string | null> => {
      try {
        const figures = (await prometheus.query(expr)).flatMap(({ values }) =>
          values.filter(Number.isFinite),
        );
        if (figures.length === 0) return mayBeEmpty(expr) ? null : 'has no figure';
        const moves = figures.some((figure) => figure !== 0);
        return moves || mayBeEmpty(expr) || isListed(mayBeZero, expr) ? null : 'stays at zero';
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

    test('every query of every panel has a result, and a value that changes', async () => {
      const exprs = expressions().map(interpolated);
      expect(exprs.filter((expr) => expr.includes('$'))).toEqual([]);
      expect(await problems(exprs)).toEqual({});
    });

    test('every rule is evaluated without an error, on existing series', async () => {
      const rules = await prometheus.rules();
      expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
      const recorded = rules.filter(({ type }) => type === 'recording').map(({ name }) => name);
      const selectors = rules.flatMap(
        ({ query }) => query.match(/(?:parcelhook|node)_\w+(\{[^}]*\})?/g) ?? [],
      );
      expect(await problems([...recorded, ...selectors])).toEqual({});
    });

    test('every recorded share is between 0 and 1', async () => {
      const recorded = await prometheus.query('{__name__=~"parcelhook:.+:ratio_.+"}');
      const shares = recorded.flatMap(({ values }) => values).filter(Number.isFinite);
      expect(shares.filter((share) => share < -1e-9 || share > 1 + 1e-9)).toEqual([]);
      expect(shares.length).toBeGreaterThan(10);
    });

    test('every alert has a severity, a meaning and a link to the runbook', async () => {
      const alerts = (await prometheus.rules()).filter(({ type }) => type === 'alerting');
      for (const { name, labels, annotations } of alerts)
        expect({ name, labels, annotations }).toEqual({
          name,
          labels: { ...labels, severity: expect.stringMatching(/^(page|ticket|none)$/) },
          annotations: {
            summary: expect.stringMatching(/\.$/),
            description: expect.stringMatching(/\.$/),
            runbook_url: `http://localhost:8080/docs/runbook#${name.toLowerCase()}`,
          },
        });
    });
  },
);

export interface Traffic {
  stop(): Promise<void>;
}

/** One is healthy, one fails every second time, one always, one is gone, one hangs; by the end each has shown it. */
async function startTraffic(service: { url: string }): Promise<Traffic> {
  const account = await registerAccount(service);
  let calls = 0;
  const receivers = {
    well: await startReceiver(),
    flaky: await startReceiver(() => ({ status: calls++ % 2 ? 200 : 503 })),
    failing: await startReceiver(() => ({ status: 500 })),
    gone: await startReceiver(() => ({ status: 410 })),
    refusing: await startReceiver(() => ({ status: 422, headers: { 'webhook-delivery': 'abort-message' } })),
    hanging: await startReceiver(() => undefined),
  };
  for (const receiver of Object.values(receivers)) {
    const { webhookId } = await registerWebhook(account, receiver.url);
    if (receiver === receivers.failing) await untilGivenUp(account, webhookId);
  }
  const load = startLoad(() => account, 100);
  const events = setInterval(() => void pickUp(service, load.accepted.at(-1)), 500);
  return {
    stop: async () => {
      clearInterval(events);
      await load.stop();
      await Promise.all(Object.values(receivers).map((receiver) => receiver.close()));
    },
  };
}

/** Waits until one delivery is given up, before enough failures open the circuit. */
async function untilGivenUp(account: Account, webhookId: string): Promise<void> {
  await placeOrder(account);
  const givenUp = `/v1/deliveries?status=FAILED&webhookId=${webhookId}`;
  await until(
    'a delivery is given up',
    async () => (await account.call(givenUp)).data.deliveries.length > 0,
    45_000,
  );
}

async function pickUp(service: { url: string }, trackingId: string | undefined): Promise<void> {
  if (trackingId)
    await operator(service, `/shipments/${trackingId}/events`, { body: { state: 'PICKED_UP' } }).catch(
      () => undefined,
    );
}
