/** A page on its way: a real service, a real Prometheus, a real Alertmanager, a receiver. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { divideRules } from '../programs/draw/divide.js';
import { newFolder, type Folder } from '../support/deployment.js';
import { until } from '../support/until.js';
import { startServiceToBreak, type Service } from '../support/harness.js';
import { readTracked } from '../support/project-files.js';
import { startReceiver, type Received, type Receiver } from '../support/receiver.js';
import { freePort } from '../support/redis.js';
import { alertmanagerIsInstalled, startAlertmanager, type Alertmanager } from './alertmanager.js';
import { isInstalled, startPrometheus, type Prometheus } from './prometheus.js';

/** Minutes become seconds. */
const division = { factor: 60, leastWindow: 2, leastAge: () => 90 };

interface Notification {
  alerts: { status: string; labels: Record<string, string>; annotations: Record<string, string> }[];
}

const alertsOf = ({ notification }: Received) => (notification as unknown as Notification).alerts;

(isInstalled() && alertmanagerIsInstalled() ? describe : describe.skip)('when the only process dies', () => {
  let folder: Folder;
  let service: Service;
  let receiver: Receiver;
  let alertmanager: Alertmanager;
  let prometheus: Prometheus;

  beforeAll(async () => {
    folder = newFolder();
    const rules = join(folder.path, 'rules.yml');
    writeFileSync(rules, divideRules(readTracked('grafana/prometheus/rules.yml'), division));
    receiver = await startReceiver();
    // A cause may fire an evaluation later than what follows from it, as with the shipped intervals.
    const timings = { group_wait: '3s', group_interval: '1s', repeat_interval: '1s' };
    alertmanager = await startAlertmanager(receiver.url, timings);
    service = await startServiceToBreak();
    prometheus = await startPrometheus(
      { parcelhook: service.url, 'parcelhook-worker': `http://127.0.0.1:${await freePort()}` },
      { rules, alertmanager: alertmanager.target, environments: { 'parcelhook-worker': 'development' } },
    );
    await until(
      'Prometheus sees that it is ready',
      async () => (await prometheus.query('parcelhook_ready == 1')).length > 0,
    );
    service.process.kill('SIGKILL');
  });
  afterAll(async () => {
    await prometheus?.stop();
    await alertmanager?.stop();
    await receiver?.close();
    await service?.stop();
    folder?.remove();
  });

  const told = (path: string) =>
    receiver.received.filter((request) => request.path === `/${path}`).flatMap(alertsOf);
  const toldOf = (path: string, alert: string) =>
    told(path).filter(({ labels }) => labels.alertname === alert);

  test('one page comes, and tells of the role that is gone', async () => {
    await until('the page comes', () => toldOf('page', 'ParcelhookRoleGone').length > 0, 30_000);
    expect(toldOf('page', 'ParcelhookRoleGone')[0]).toMatchObject({
      status: 'firing',
      labels: { environment: 'production', severity: 'page' },
      annotations: {
        summary: expect.stringContaining('production'),
        runbook_url: 'http://localhost:8080/docs/runbook#parcelhookrolegone',
      },
    });
    expect(new Set(told('page').map(({ labels }) => labels.alertname))).toEqual(
      new Set(['ParcelhookRoleGone']),
    );
  });

  test('what follows from it is kept quiet, in its environment only', async () => {
    await until('Alertmanager keeps the ticket quiet', async () => {
      const all = await alertmanager.alerts();
      const cause = all.find(({ labels }) => labels.alertname === 'ParcelhookRoleGone');
      const { status } = all.find(
        ({ labels: { alertname, environment } }) =>
          alertname === 'ParcelhookInstanceDown' && environment === 'production',
      ) ?? { status: undefined };
      return status?.state === 'suppressed' && status.inhibitedBy.includes(cause!.fingerprint);
    });
    // Time enough for the ticket, had it been let through: others come, and come again.
    const before = told('watchdog').length;
    await until('the watchdog comes again and again', () => told('watchdog').length >= before + 4, 30_000);
    const down = toldOf('ticket', 'ParcelhookInstanceDown');
    expect(new Set(down.map(({ labels }) => labels.environment))).toEqual(new Set(['development']));
  });

  test('the watchdog comes to nobody who would be woken by it', () => {
    expect(told('watchdog').map(({ labels }) => labels)).toContainEqual(
      expect.objectContaining({ alertname: 'ParcelhookWatchdog', severity: 'none' }),
    );
    expect([...toldOf('page', 'ParcelhookWatchdog'), ...toldOf('ticket', 'ParcelhookWatchdog')]).toEqual([]);
  });
});
