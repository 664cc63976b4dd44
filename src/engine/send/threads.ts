import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { databaseClockAheadMs, databaseNowMs, monotonicMs, monotonicOf } from '../../platform/clock.js';
import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Metrics } from '../../platform/telemetry/metrics.js';
import { packageFolder } from '../../platform/version.js';
import type { Exchange, ExchangeSettings } from './exchange.js';
import {
  failedOutcome,
  unpackOutcome,
  type AttemptMessage,
  type AttemptOutcome,
  type FromThread,
  type Outgoing,
  type ToThread,
} from './messages.js';
import type { OpenTarget } from './sealing.js';

/** An attempt to send. */
export interface Sent extends Pick<Outgoing, 'traceparent' | 'isTraced' | 'keepsDetail'> {
  claim: Omit<Outgoing, 'body' | 'traceparent' | 'isTraced' | 'keepsDetail' | 'startUntilMs'> & {
    webhookId: string;
    body: string;
  };
  target: OpenTarget;
  /** A time of performance.now(), like that with which `mayStart` resolves (`Starts`). */
  startUntilMs: number;
  mayStart(): Promise<number | null>;
  /** Its receiver has been quick lately. */
  isProved: boolean;
}

export interface Sending {
  /** Does not reject. The outcome is `LOST` if the thread that made the attempt has ended. */
  send(sent: Sent): Promise<AttemptOutcome>;
  close(): void;
}

export interface SendingOptions {
  settings: ExchangeSettings;
  /** 0: attempts are made in the process. */
  threads: number;
  logger: Logger;
  metrics: Metrics;
  /** The program of the threads, in tests. */
  program?: string;
}

export interface ThreadSettings {
  settings: ExchangeSettings;
  sharedBy: number;
}

export const createSending = (options: SendingOptions): Sending =>
  options.threads === 0 ? sendInProcess(options) : new SendThreads(options);

/** The packages that send are loaded with the first attempt. */
function sendInProcess({ settings, logger }: SendingOptions): Sending {
  let exchange: Promise<Exchange> | undefined;
  const open = () =>
    import('./exchange.js').then(({ createExchange }) => createExchange(settings, 1, logger));
  return {
    send: async ({ claim, target, startUntilMs, mayStart, ...sent }) =>
      (await (exchange ??= open())).attempt(
        target,
        { ...claim, ...sent, startUntilMs: monotonicOf(startUntilMs) },
        async () => {
          const untilMs = await mayStart();
          return untilMs === null ? null : monotonicOf(untilMs);
        },
      ),
    close: () => void exchange?.then((opened) => opened.close()),
  };
}

/** The threads, and the attempts of an event, share a longer body. */
const maxCopiedChars = 16 * 1024;

/**
 * Sends in threads, so that no receiver costs the main thread anything. The last thread has the receivers that are
 * unknown or slow; the others have the proved ones. One thread has all that are on one host, to reuse its connections.
 */
class SendThreads implements Sending {
  readonly #threads: SendThread[];
  /** Large bodies by event, with the number of attempts in flight that use them. */
  readonly #bodies = new Map<string, { text: string; shared: SharedArrayBuffer; attempts: number }>();

  constructor(options: SendingOptions) {
    const { threads } = options;
    const nameOf = (index: number) =>
      threads === 1 ? 'all' : index === threads - 1 ? 'others' : `proved-${index + 1}`;
    this.#threads = Array.from({ length: threads }, (_, index) => new SendThread(options, nameOf(index)));
  }

  async send(sent: Sent): Promise<AttemptOutcome> {
    const thread = this.#threads[this.#indexFor(sent)]!;
    if (sent.claim.body.length <= maxCopiedChars) return thread.send(sent, sent.claim.body);
    const body = this.#share(sent.claim);
    body.attempts += 1;
    const outcome = await thread.send(sent, body.shared);
    body.attempts -= 1;
    const { eventId } = sent.claim;
    if (body.attempts === 0 && this.#bodies.get(eventId) === body) this.#bodies.delete(eventId);
    return outcome;
  }

  close(): void {
    for (const thread of this.#threads) thread.close();
  }

  #indexFor({ isProved, target }: Sent): number {
    const last = this.#threads.length - 1;
    return isProved && last > 0 ? hashOf(hostOf(target.url)) % last : last;
  }

  #share({ eventId, body: text }: Sent['claim']) {
    const known = this.#bodies.get(eventId);
    if (known?.text === text) return known;
    const shared = new SharedArrayBuffer(Buffer.byteLength(text));
    Buffer.from(shared).write(text);
    const made = { text, shared, attempts: 0 };
    this.#bodies.set(eventId, made);
    return made;
  }
}

const hostOf = (url: string) => url.split('/', 3)[2] ?? '';

function hashOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) >>> 0;
  return hash;
}

interface InFlight {
  sent: Sent;
  body: string | SharedArrayBuffer;
  sinceMs: number;
  resolve(outcome: AttemptOutcome): void;
}

/** A hundred hanging attempts take some 5 MB; the default heap would be as large as that of the process. */
const resourceLimits = { maxYoungGenerationSizeMb: 32, maxOldGenerationSizeMb: 256 };
const maxTargets = 10_000;
const pingEveryMs = 1_000;
/** A thread without a sign of life for so many pings is stuck. A pause of the main thread counts as one ping only. */
const maxMissedPings = 5;
/** A thread is not started more often, even if it ends as soon as it starts. */
const startEveryMs = 1_000;

type Cause = 'exit' | 'error' | 'memory' | 'stuck';

/** The first attempt starts the thread. If that ends or is stuck, its attempts are lost; the next one starts another. */
class SendThread {
  #worker: Worker | null = null;
  #startedAtMs = -Infinity;
  #isClosed = false;
  /** These attempts go out at the end of this tick, or when the thread may start. */
  #waiting: InFlight[] = [];
  #permissions: [id: number, startUntilMs: number | null][] = [];
  #isFlushing = false;
  /** The index is the id that the thread reports; undefined where the id is free. */
  #inFlight: (InFlight | undefined)[] = [];
  #freeIds: number[] = [];
  #forgotten: string[] = [];
  /** The targets that the thread has, by webhook. */
  readonly #targets = new LRUCache<string, OpenTarget>({
    max: maxTargets,
    dispose: (_target, webhookId, reason) => {
      if (reason === 'evict') this.#forgotten.push(webhookId);
    },
  });
  #missedPings = 0;
  #pinging: NodeJS.Timeout | undefined;
  /** The longest since the last scrape. */
  #longestWaitMs = 0;

  constructor(
    readonly options: SendingOptions,
    readonly name: string,
  ) {
    this.#exposeFigures(options.metrics);
  }

  send(sent: Sent, body: string | SharedArrayBuffer): Promise<AttemptOutcome> {
    return new Promise((resolve) => {
      this.#waiting.push({ sent, body, sinceMs: performance.now(), resolve });
      this.#flushSoon();
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#end();
    for (const entry of this.#waiting.splice(0)) lose(entry);
  }

  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    const waitMs = this.#untilStartMs();
    const flush = () => {
      this.#isFlushing = false;
      this.#flush();
    };
    if (waitMs > 0) setTimeout(flush, waitMs);
    else if (this.#isIdle())
      queueMicrotask(flush); // before other work of this tick, such as a response to a shipper
    else setImmediate(flush);
  }

  #untilStartMs(): number {
    return this.#worker ? 0 : this.#startedAtMs + startEveryMs - performance.now();
  }

  #flush(): void {
    if (this.#isClosed) return this.close();
    if (this.#waiting.length === 0 && this.#permissions.length === 0) return;
    if (this.#untilStartMs() > 0) return this.#flushSoon(); // the thread has ended since
    try {
      this.#worker ??= this.#start();
    } catch (error) {
      this.options.logger.error({ error: describeError(error) }, 'sender thread not started; retrying');
      this.#giveUp();
      return this.#lost('error');
    }
    const attempts = this.#waiting.splice(0).map((entry) => this.#messageOf(entry));
    this.#post(attempts, this.#permissions.splice(0));
  }

  /** Gives back what has waited too long for a thread that does not start: another process may send it. */
  #giveUp(): void {
    const untilMs = performance.now() - this.options.settings.timeoutMs;
    const given = this.#waiting.filter(({ sinceMs }) => sinceMs < untilMs);
    this.#waiting = this.#waiting.filter(({ sinceMs }) => sinceMs >= untilMs);
    for (const { resolve } of given)
      resolve({ ...failedOutcome('LOST', new Date(databaseNowMs())), withheld: true });
  }

  #post(attempts: AttemptMessage[], permissions: [id: number, startUntilMs: number | null][]): void {
    const forgotten = this.#forgotten.splice(0).filter((webhookId) => !this.#targets.has(webhookId));
    const message: ToThread = {
      postedAtMs: monotonicMs(),
      clockAheadMs: databaseClockAheadMs(),
      attempts,
      permissions,
      forgotten,
    };
    this.#worker!.postMessage(message);
  }

  #messageOf(entry: InFlight): AttemptMessage {
    const { claim, target, traceparent, isTraced, keepsDetail, startUntilMs } = entry.sent;
    const { webhookId, shipperId, eventId, sequence, number, erased } = claim;
    const isKnown = this.#targets.get(webhookId) === target;
    if (!isKnown) this.#targets.set(webhookId, target);
    const id = this.#freeIds.pop() ?? this.#inFlight.length;
    this.#inFlight[id] = entry;
    return [
      id,
      webhookId,
      isKnown ? null : target,
      shipperId,
      eventId,
      entry.body,
      sequence,
      number,
      erased,
      traceparent,
      isTraced,
      keepsDetail,
      monotonicOf(startUntilMs),
      monotonicOf(entry.sinceMs),
    ];
  }

  #start(): Worker {
    this.#startedAtMs = performance.now();
    const { settings, threads, logger, program } = this.options;
    const worker = new Worker(program ?? path.join(packageFolder, 'dist/sender.js'), {
      workerData: { settings, sharedBy: threads } satisfies ThreadSettings,
      resourceLimits,
      execArgv: [],
      env: {},
    });
    worker.unref();
    worker.on('message', (report: FromThread) => {
      if (worker === this.#worker) this.#take(report);
    });
    let cause: Cause = 'exit';
    worker.on('error', (error: NodeJS.ErrnoException) => {
      cause = error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'error';
      logger.error({ thread: this.name, error: describeError(error) }, 'sender thread failed');
    });
    worker.on('exit', () => {
      if (worker === this.#worker) this.#lost(cause);
    });
    this.#pinging = setInterval(() => this.#ping(), pingEveryMs).unref();
    return worker;
  }

  #take({ outcomes, questions, waitedMs, problems }: FromThread): void {
    this.#missedPings = 0;
    this.#longestWaitMs = Math.max(this.#longestWaitMs, waitedMs);
    for (const message of outcomes) {
      const [id] = message;
      const { resolve } = this.#inFlight[id]!;
      this.#inFlight[id] = undefined;
      this.#freeIds.push(id);
      resolve(unpackOutcome(message));
    }
    for (const id of questions) {
      const entry = this.#inFlight[id];
      if (entry) void this.#answer(id, entry); // else its outcome has come with the question
    }
    for (const { fields, text } of problems) this.options.logger.error(fields, text);
  }

  async #answer(id: number, entry: InFlight): Promise<void> {
    const untilMs = await entry.sent.mayStart();
    if (this.#inFlight[id] !== entry) return; // it has timed out or is lost
    this.#permissions.push([id, untilMs === null ? null : monotonicOf(untilMs)]);
    this.#flushSoon();
  }

  #isIdle(): boolean {
    return this.#inFlight.length === this.#freeIds.length;
  }

  #ping(): void {
    if (this.#isIdle()) return;
    if (this.#missedPings >= maxMissedPings) return this.#lost('stuck');
    this.#missedPings += 1;
    this.#post([], []);
  }

  #lost(cause: Cause): void {
    const attempts = this.#end();
    this.options.metrics.senderThreadsLost.inc({ cause });
    this.options.logger.error(
      { thread: this.name, cause, attempts },
      'sender thread ended; its attempts are LOST, and another takes its place',
    );
    if (this.#waiting.length > 0) this.#flushSoon();
  }

  /** Returns how many attempts are lost with the thread. */
  #end(): number {
    const lost = this.#inFlight.filter((entry) => entry !== undefined);
    clearInterval(this.#pinging);
    void this.#worker?.terminate();
    this.#worker = null;
    this.#missedPings = 0;
    this.#inFlight = [];
    this.#freeIds = [];
    this.#permissions = [];
    this.#forgotten = [];
    this.#targets.clear();
    lost.forEach(lose);
    return lost.length;
  }

  #exposeFigures({ onScrape, senderThreadBusy, senderThreadDelay }: Metrics): void {
    const labels = { thread: this.name };
    senderThreadBusy.inc(labels, 0);
    let before: { worker: Worker | null; activeMs: number } = { worker: null, activeMs: 0 };
    onScrape(() => {
      const worker = this.#worker;
      const activeMs = worker?.performance.eventLoopUtilization().active ?? 0;
      const moreMs = activeMs - (worker === before.worker ? before.activeMs : 0);
      senderThreadBusy.inc(labels, Math.max(0, moreMs) / 1_000);
      before = { worker, activeMs };
      senderThreadDelay.set(labels, this.#longestWaitMs / 1_000);
      this.#longestWaitMs = 0;
    });
  }
}

function lose({ sinceMs, resolve }: InFlight): void {
  const lastedMs = Math.round(performance.now() - sinceMs);
  resolve(failedOutcome('LOST', new Date(databaseNowMs() - lastedMs), lastedMs));
}
