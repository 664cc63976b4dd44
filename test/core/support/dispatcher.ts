import {
  createDispatcher,
  type Dispatcher,
  type DispatcherOptions,
} from '../../../src/deliveries/dispatch/dispatcher.js';
import { createRedeliverer, type Redeliverer } from '../../../src/deliveries/on-demand/redelivery.js';
import { createStarts } from '../../../src/deliveries/send/starts.js';
import { timesOf } from '../../../src/deliveries/times.js';
import { createSender } from '../../../src/deliveries/send/sender.js';
import { createMetrics } from '../../../src/platform/metrics.js';
import { developmentPolicy, noNames } from '../../unit/support/ssrf-corpus.js';
import { leaseMs, longHoldMs, terminalStates } from './acts.js';
import { logger, type World } from './world.js';

type RedelivererOptions = Parameters<typeof createRedeliverer>[0];

const optionsOf = ({ db }: World, url: string): DispatcherOptions => {
  const times = timesOf();
  const opened = { url, headers: {}, secret: 'whsec_c2VjcmV0', previousSecret: null, kept: '' };
  return {
    db,
    leaseDb: db,
    logger,
    metrics: createMetrics(),
    times,
    starts: createStarts(db, times),
    targets: {
      of: (webhook) =>
        Promise.resolve({
          ...webhook,
          storedAddress: 'http://receiver.test/',
          previousSecretUntil: null,
          open: () => opened,
        }),
    },
    send: createSender({ policy: developmentPolicy, names: noNames }).send,
    timeoutMs: 10_000,
    version: 'test',
    concurrency: 10,
    retryScheduleMs: [60_000],
    orderHoldMs: longHoldMs,
    terminalStates,
    onLeft: () => undefined,
  };
};

/** A worker's dispatcher without the rest of a worker: no sweep, no queue. Every webhook is called at `url`. */
export const startDispatcher = (
  world: World,
  url: string,
  options: Partial<DispatcherOptions> = {},
): Dispatcher => createDispatcher({ ...optionsOf(world, url), ...options });

/** What sends by hand in a worker, by itself. */
export const startRedeliverer = (
  world: World,
  url: string,
  options: Partial<RedelivererOptions> = {},
): Redeliverer =>
  createRedeliverer({ ...optionsOf(world, url), leaseMs, notify: () => undefined, ...options });
