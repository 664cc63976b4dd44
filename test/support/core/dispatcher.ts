import {
  createDispatcher,
  type Dispatcher,
  type DispatcherOptions,
} from '../../../src/engine/attempt/dispatcher.js';
import { createAttemptCounter } from '../../../src/engine/attempt/attempt.js';
import { createRedeliverer, type Redeliverer } from '../../../src/engine/attempt/redelivery.js';
import { createStarts } from '../../../src/engine/attempt/starts.js';
import { durationsOf } from '../../../src/platform/durations.js';
import { createSender } from '../../../src/engine/send/sender.js';
import { createMetrics } from '../../../src/platform/telemetry/metrics.js';
import { withoutExport } from '../../../src/platform/telemetry/tracing.js';
import { developmentPolicy, noDns } from '../ssrf-corpus.js';
import { leaseMs, longHoldMs, terminalStates } from './acts.js';
import { logger, type World } from './world.js';

type RedelivererOptions = Parameters<typeof createRedeliverer>[0];

const optionsOf = ({ db }: World, url: string): DispatcherOptions => {
  const durations = durationsOf();
  const metrics = createMetrics();
  const opened = { url, headers: [], secret: 'whsec_c2VjcmV0', previousSecret: null };
  return {
    db,
    leaseDb: db,
    logger,
    metrics,
    countAttempt: createAttemptCounter(metrics),
    durations,
    starts: createStarts(db, durations),
    targets: {
      of: (webhook) =>
        Promise.resolve({
          ...webhook,
          storedAddress: 'http://receiver.test/',
          previousSecretUntil: null,
          open: () => opened,
        }),
    },
    send: createSender({ policy: developmentPolicy, dns: noDns }).send,
    logAttempts: 'all',
    logDetail: 'failed',
    tracing: withoutExport,
    timeoutMs: 10_000,
    version: 'test',
    concurrency: 10,
    retryScheduleMs: [60_000],
    orderHoldMs: longHoldMs,
    terminalStates,
    onLeft: () => undefined,
    onDisabled: () => Promise.resolve(),
  };
};

/** Alone: no sweep, no queue. Every webhook is called at `url`. */
export const startDispatcher = (
  world: World,
  url: string,
  options: Partial<DispatcherOptions> = {},
): Dispatcher => createDispatcher({ ...optionsOf(world, url), ...options });

export const startRedeliverer = (
  world: World,
  url: string,
  options: Partial<RedelivererOptions> = {},
): Redeliverer =>
  createRedeliverer({ ...optionsOf(world, url), leaseMs, notify: () => undefined, ...options });
