/** One page for one cause: alerts as the rules would raise them, given to a real Alertmanager with the shipped rules. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/until.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { alertmanagerIsInstalled, startAlertmanager, type Alertmanager } from './alertmanager.js';

/** Alerts of one environment, `Name` or `Name role`, without their prefix. */
interface Scene {
  fire: string[];
  told: string[];
}

const workersWork = ['SendableLate', 'OrdersCreatedLate'];
const scenes: Record<string, Scene> = {
  'PostgreSQL is away': {
    fire: [
      ...[
        'DatabaseAway',
        'RoleGone api',
        'RoleGone worker',
        'NotReady api',
        'NotReady worker',
        'FiguresStale',
        'FiguresMissing',
      ],
      ...[
        'QueueNotFlowing',
        'Unreachable',
        'ApiFailing',
        'ApiSlow',
        'TasksFailing',
        'PostgresPoolExhausted',
        ...workersWork,
      ],
    ],
    told: ['DatabaseAway'],
  },
  'PostgreSQL is away because its disk is full': {
    fire: ['DatabaseAway', 'RoleGone api', 'DatabaseFilling'],
    told: ['DatabaseAway', 'DatabaseFilling'],
  },
  'Redis is away': {
    fire: [
      ...['QueueNotFlowing', 'RoleGone worker', 'NotReady worker', 'FiguresStale', 'TasksFailing'],
      ...['SweeperBusy', ...workersWork],
    ],
    told: ['QueueNotFlowing'],
  },
  'Redis is away, and so is the last API': {
    fire: ['QueueNotFlowing', 'RoleGone worker', 'RoleGone api', 'InstanceDown'],
    told: ['QueueNotFlowing', 'RoleGone api'],
  },
  'the last worker is gone, and the API fails by itself': {
    fire: [
      ...['RoleGone worker', 'InstanceDown', 'OutboxWalkLate', 'FiguresMissing', 'ApiFailing', 'ApiSlow'],
      ...workersWork,
    ],
    told: ['RoleGone worker', 'ApiFailing'],
  },
  'the last API is gone, and workers are late by themselves': {
    fire: ['RoleGone api', 'Unreachable', 'InstanceDown', 'NoOrdersAccepted', 'ApiFailing', ...workersWork],
    told: ['RoleGone api', 'SendableLate'],
  },
  'the role all is gone': {
    fire: [
      'RoleGone all',
      'InstanceDown',
      'NoOrdersAccepted',
      'ApiFailing',
      'OutboxWalkLate',
      ...workersWork,
    ],
    told: ['RoleGone all'],
  },
  'one of two workers is gone, and receivers fail': {
    fire: ['InstanceDown', 'ReceiversFailing', 'ReceiversSlow', 'RetriesExhausted'],
    told: ['InstanceDown', 'ReceiversFailing', 'ReceiversSlow', 'RetriesExhausted'],
  },
  'statements time out': {
    fire: ['FiguresMissing', 'TasksFailing', 'ApiFailing'],
    told: ['FiguresMissing', 'TasksFailing', 'ApiFailing'],
  },
  'the proxy is away': {
    fire: ['Unreachable', 'NoOrdersAccepted', 'InstanceDown'],
    told: ['Unreachable', 'NoOrdersAccepted', 'InstanceDown'],
  },
  'there is no cause here, only elsewhere': {
    fire: ['ApiFailing', 'SendableLate', 'NotReady worker'],
    told: ['ApiFailing', 'SendableLate', 'NotReady worker'],
  },
};

(alertmanagerIsInstalled() ? describe : describe.skip)('where', () => {
  let receiver: Receiver;
  let alertmanager: Alertmanager;

  beforeAll(async () => {
    receiver = await startReceiver();
    const timings = { group_wait: '1h', group_interval: '1h', repeat_interval: '1h' };
    alertmanager = await startAlertmanager(receiver.url, timings);
    await alertmanager.post(
      Object.entries(scenes).flatMap(([environment, { fire }]) =>
        fire.map((alert) => {
          const [name, role] = alert.split(' ');
          return { alertname: `Parcelhook${name}`, environment, ...(role && { role }) };
        }),
      ),
    );
  });
  afterAll(async () => {
    await alertmanager?.stop();
    await receiver?.close();
  });

  const told = async (scene: string): Promise<string[]> =>
    (await alertmanager.alerts())
      .filter(({ labels, status }) => labels.environment === scene && status.state === 'active')
      .map(({ labels: { alertname, role } }) => [alertname!.replace('Parcelhook', ''), role].join(' ').trim())
      .sort();

  test.each(Object.keys(scenes))('%s, nobody is told more than that', async (scene) => {
    const expected = [...scenes[scene]!.told].sort();
    await until('what follows is kept quiet', async () => (await told(scene)).length <= expected.length);
    expect(await told(scene)).toEqual(expected);
  });
});

(alertmanagerIsInstalled() ? test : test.skip)(
  'a second incident is told at once, while the first one stands',
  async () => {
    const receiver = await startReceiver();
    const timings = { group_wait: '500ms', group_interval: '1h', repeat_interval: '1h' };
    const alertmanager = await startAlertmanager(receiver.url, timings);
    const incident = async (name: string) => {
      await alertmanager.post([
        { alertname: `Parcelhook${name}`, environment: 'production', severity: 'page' },
      ]);
      await until(
        name,
        () => receiver.received.some(({ body }) => body.includes(`Parcelhook${name}`)),
        20_000,
      );
    };
    await incident('ApiFailing');
    await incident('RedisFilling');
    await alertmanager.stop();
    await receiver.close();
  },
);
