import type { LookupAddress } from 'node:dns';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { describeError } from '../../../platform/errors.js';
import type { ErrorLog } from '../../../platform/telemetry/logger.js';
import { packageFolder } from '../../../platform/version.js';

/** `ttlMs`: how long it may be reused. `isSilent`: no response came in time. */
export type Found = { addresses: LookupAddress[]; ttlMs: number } | { failure: string; isSilent: boolean };

/** A lookup under way. A cancelled one still resolves. */
export interface Lookup {
  found: Promise<Found>;
  cancel(): void;
}

export interface LookupOptions {
  /** Name servers, `address` or `address:port`; if not set, those of the machine. */
  servers?: readonly string[] | undefined;
  /** Asks the machine for names that DNS does not know: they may be in its hosts file. */
  systemToo: boolean;
}

/** A lookup to begin or, with an id alone, one to cancel. */
export interface LookupCommand {
  id: number;
  begin?: { hostname: string; shipperId: string };
}

export interface LookupReport {
  id: number;
  found: Found;
}

export interface LookupThread {
  begin(hostname: string, shipperId: string): Lookup;
  close(): void;
}

const cancelled: Found = { failure: 'ECANCELLED', isSilent: true };

/** The default heap would take 30 MB more. */
const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 };

/**
 * Looks names up in a thread (`thread.ts`): a response may have thousands of addresses, and reading it would block the
 * event loop for 20 ms. The first lookup starts the thread. If it dies, its lookups fail; the next one starts another.
 */
export function createLookupThread(options: LookupOptions, logger: ErrorLog): LookupThread {
  const underWay = new Map<number, (found: Found) => void>();
  let thread: Worker | null = null;
  let lastId = 0;
  let isClosed = false;

  const endAll = () => {
    thread = null;
    for (const report of underWay.values()) report(cancelled);
    underWay.clear();
  };
  const start = (): Worker => {
    const started = new Worker(path.join(packageFolder, 'dist/lookups.js'), {
      workerData: options,
      resourceLimits,
      execArgv: [],
      env: {},
    });
    started.unref();
    started.on('message', ({ id, found }: LookupReport) => {
      underWay.get(id)?.(found);
      underWay.delete(id);
    });
    started.on('error', (error) =>
      logger.error({ error: describeError(error) }, 'DNS thread failed; the next lookup starts another'),
    );
    started.on('exit', () => {
      if (thread === started) endAll();
    });
    return started;
  };
  const post = (command: LookupCommand): boolean => {
    try {
      (thread ??= start()).postMessage(command);
      return true;
    } catch (error) {
      logger.error({ error: describeError(error) }, 'DNS thread not started; the lookup fails');
      return false;
    }
  };

  return {
    begin: (hostname, shipperId) => {
      const id = (lastId += 1);
      if (isClosed || !post({ id, begin: { hostname, shipperId } }))
        return { found: Promise.resolve(cancelled), cancel: () => undefined };
      const found = new Promise<Found>((resolve) => underWay.set(id, resolve));
      return {
        found,
        cancel: () => {
          if (underWay.has(id)) post({ id });
        },
      };
    },
    close: () => {
      isClosed = true;
      void thread?.terminate();
      endAll();
    },
  };
}
