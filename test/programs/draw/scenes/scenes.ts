import { upkeep, upkeepSettings } from './upkeep.js';
import type { Scene, Struck } from './scene.js';

const lockedForMs = 90_000;
/** Longer than the service's objective for an answer, shorter than it takes to be refused. */
const impatienceMs = 700;

const kill =
  (count: number) =>
  ({ environment: { workers } }: Struck) => {
    for (const worker of workers.splice(0, count)) worker.kill('SIGKILL');
  };

/**
 * The table of what is asserted: in each scene, which alerts are told, within how many seconds, and no other; and which
 * half of Overview's first row is red. Seconds are those of rules with divided durations (`division.ts`).
 */
export const scenes: Scene[] = [
  {
    name: 'healthy',
    title: 'All is well',
    what: 'An api and two workers, three orders a second, every receiver responds at once.',
    watched: 45,
    environments: { production: { told: {}, red: 'none' } },
    drawn: ['overview', 'delivery', 'receivers'],
  },
  {
    name: 'upkeep',
    title: 'Everyday upkeep',
    what: 'A webhook is paused, one shipper suspended, another removed, a shipment erased, a client over its limits, an api replaced.',
    settings: upkeepSettings,
    watched: 45,
    environments: { production: { strike: upkeep, told: {}, red: 'none' } },
    drawn: ['internals'],
  },
  {
    name: 'receivers',
    title: 'Slow, dead, failing and vanished receivers',
    what: 'Three receivers take 6 s for each response, two refuse every connection, two respond 500, one 410.',
    settings: { RETRY_SCHEDULE: '50ms,50ms' },
    watched: 30,
    environments: {
      production: {
        strike: async ({ environment: { accounts, addWebhook } }) => {
          for (const account of accounts) await addWebhook(account, 'slow');
          for (const behaviour of ['dead', 'failing'] as const)
            for (const account of accounts.slice(1)) await addWebhook(account, behaviour);
          await addWebhook(accounts[2]!, 'gone');
        },
        told: {
          ParcelhookReceiversFailing: 90,
          ParcelhookReceiversSlow: 90,
          ParcelhookRetriesExhausted: 60,
        },
        red: 'theirs',
      },
    },
    drawn: ['overview', 'delivery', 'receivers', 'tenants'],
  },
  {
    name: 'redis-away',
    title: 'Redis is away',
    what: 'Redis is killed and stays away: what is owed is found by sweeps, and orders are created late.',
    watched: 30,
    environments: {
      production: {
        strike: ({ environment }) => environment.redis.kill(),
        told: { ParcelhookQueueNotFlowing: 45 },
        red: 'ours',
      },
    },
    drawn: ['overview'],
  },
  {
    name: 'one-worker-killed',
    title: 'One of two workers is killed',
    what: 'One of two workers is killed with -9; the other one does its work.',
    watched: 40,
    environments: {
      production: { strike: kill(1), told: { ParcelhookInstanceDown: 30 }, red: 'ours' },
    },
    drawn: ['overview'],
  },
  {
    name: 'last-worker-killed',
    title: 'The last worker is killed',
    what: 'Both workers are killed with -9: orders are accepted, and nothing is created or sent.',
    watched: 30,
    environments: {
      production: { strike: kill(2), told: { ParcelhookRoleGone: 30 }, red: 'ours' },
    },
    drawn: ['overview'],
  },
  {
    name: 'postgres-away',
    title: 'PostgreSQL is away',
    what: 'PostgreSQL crashes and stays away: orders are refused with 503.',
    watched: 30,
    environments: {
      production: {
        strike: ({ environment }) => environment.postgres.crash(),
        told: { ParcelhookDatabaseAway: 30 },
        isSilent: true,
        red: 'ours',
      },
    },
    drawn: ['overview'],
  },
  {
    name: 'postgres-read-only',
    title: 'PostgreSQL is read-only',
    what: 'PostgreSQL accepts no writes, like the former primary after a fail-over.',
    watched: 30,
    environments: {
      production: {
        strike: ({ environment }) => environment.postgres.setReadOnly('on'),
        told: { ParcelhookDatabaseAway: 30 },
        red: 'ours',
      },
    },
    drawn: ['overview'],
  },
  {
    name: 'locked-table',
    title: 'A locked table and impatient clients',
    what: "Somebody else's statement locks the table of orders, and clients hang up after 0.7 s.",
    watched: 30,
    environments: {
      production: {
        strike: ({ environment, traffic }) => {
          traffic.setPatience(impatienceMs);
          void environment.postgres.locked('shipments', lockedForMs).catch(() => undefined);
        },
        told: { ParcelhookApiFailing: 30 },
        isSilent: true,
        red: 'ours',
      },
    },
    drawn: ['overview', 'internals'],
  },
  {
    name: 'two-environments',
    title: 'Two environments in one Prometheus',
    what: 'Development has lost its Redis; production is well, and no alert fires for it.',
    watched: 30,
    environments: {
      production: { told: {}, red: 'none' },
      development: {
        strike: ({ environment }) => environment.redis.kill(),
        told: { ParcelhookQueueNotFlowing: 45 },
        red: 'ours',
      },
    },
    drawn: ['overview'],
  },
];
