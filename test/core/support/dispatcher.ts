import { createDispatcher, type Dispatcher } from '../../../src/deliveries/dispatch/dispatcher.js';
import { createStarts } from '../../../src/deliveries/outbox/starts.js';
import { timesOf } from '../../../src/deliveries/outbox/times.js';
import { createSender } from '../../../src/deliveries/send/sender.js';
import { createMetrics } from '../../../src/platform/metrics.js';
import { developmentPolicy, noNames } from '../../unit/support/ssrf-corpus.js';
import { longHoldMs, terminalStates } from './acts.js';
import { logger, type World } from './world.js';

/** A worker's dispatcher without the rest of a worker: no sweep, no queue. Every webhook is called at `url`. */
export function startDispatcher({ db }: World, url: string): Dispatcher {
  const times = timesOf();
  const opened = { url, headers: {}, secret: 'whsec_c2VjcmV0', previousSecret: null, kept: '' };
  return createDispatcher({
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
  });
}
