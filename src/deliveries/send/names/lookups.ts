import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { describeError } from '../../../platform/errors.js';
import type { Logger } from '../../../platform/logger.js';
import { packageFolder } from '../../../version.js';
import type { Found, Query } from './query.js';

/** The options that the thread is started with. */
export interface LookupOptions {
  /** Name servers, `address` or `address:port`; if not set, those of the machine. */
  servers?: readonly string[] | undefined;
  /** Asks the machine for names that DNS does not know: they may be in its hosts file. */
  systemToo: boolean;
}

/** To the thread: a lookup to begin or, with an id alone, one to cancel. */
export interface Ask {
  id: number;
  query?: { hostname: string; shipperId: string };
}

/** From the thread. Each lookup is reported once, a cancelled one too. */
export interface Told {
  id: number;
  found: Found;
}

export interface Lookups {
  begin(hostname: string, shipperId: string): Query;
  /** Ends the thread, and with it all lookups under way. */
  close(): void;
}

const lost: Found = { failure: 'ECANCELLED', isSilent: true };

/** Its heap holds answers for a moment; the usual one would take 30 MB more. */
const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 };

/**
 * Looks names up in a thread of its own: an answer may have thousands of addresses, and reading it takes 20 ms in one
 * piece, in which nothing else would go on. The thread is started by the first lookup. If it dies, its lookups fail;
 * the next lookup starts another thread.
 */
export function createLookups(options: LookupOptions, logger: Logger): Lookups {
  const underWay = new Map<number, (found: Found) => void>();
  let thread: Worker | null = null;
  let lastId = 0;
  let isClosed = false;

  const endAll = () => {
    thread = null;
    for (const tell of underWay.values()) tell(lost);
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
    started.on('message', ({ id, found }: Told) => {
      underWay.get(id)?.(found);
      underWay.delete(id);
    });
    started.on('error', (error) =>
      logger.error({ error: describeError(error) }, 'the thread that looks names up failed'),
    );
    started.on('exit', () => {
      if (thread === started) endAll();
    });
    return started;
  };
  const post = (ask: Ask): boolean => {
    try {
      (thread ??= start()).postMessage(ask);
      return true;
    } catch (error) {
      logger.error({ error: describeError(error) }, 'the thread for name lookups cannot be started');
      return false;
    }
  };

  return {
    begin: (hostname, shipperId) => {
      if (isClosed) return { found: Promise.resolve(lost), cancel: () => undefined };
      const id = (lastId += 1);
      if (!post({ id, query: { hostname, shipperId } }))
        return { found: Promise.resolve(lost), cancel: () => undefined };
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
