import { Paces } from '../../../src/engine/schedule/pace.js';
import {
  createDispatcher,
  type Dispatcher,
  type DispatcherOptions,
} from '../../../src/engine/attempt/dispatcher.js';
import { createAttemptCounter } from '../../../src/engine/attempt/attempt.js';
import { createBodies } from '../../../src/engine/attempt/attempt.js';
import { createStarts } from '../../../src/engine/attempt/leases.js';
import { durationsOf } from '../../../src/platform/durations.js';
import { createSending, type Sending, type SendingOptions } from '../../../src/engine/send/threads.js';
import { createMetrics } from '../../../src/platform/telemetry/metrics.js';
import { withoutExport } from '../../../src/platform/telemetry/tracing.js';
import { developmentDestinations } from '../ssrf-corpus.js';
import { longHoldMs, terminalStates } from './acts.js';
import { logger, type World } from './world.js';

/** Makes attempts in the process, unless `threads` is given. */
export const openSending = (options: Partial<SendingOptions> = {}): Sending =>
  createSending({
    settings: {
      destinations: developmentDestinations,
      dns: { systemToo: false },
      timeoutMs: 10_000,
      version: 'test',
    },
    threads: 0,
    logger,
    metrics: createMetrics(),
    ...options,
  });

const optionsOf = (world: World, url: string): DispatcherOptions => {
  const { db } = world;
  const durations = durationsOf();
  const metrics = createMetrics();
  const opened = {
    url,
    headers: [],
    secret: 'whsec_c2VjcmV0',
    earlierSecrets: [],
  };
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
          maxPerSecond: null,
          open: () => opened,
        }),
    },
    bodies: createBodies(db),
    sending: openSending(),
    onStored: () => undefined,
    logAttempts: 'all',
    logDetail: 'failed',
    tracing: withoutExport,
    concurrency: 10,
    retryScheduleMs: [60_000],
    orderHoldMs: longHoldMs,
    terminalStates,
    paces: new Paces(0, []),
    agree: () => undefined,
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
