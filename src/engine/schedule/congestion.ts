/** After this time, the window is back at the one in which the receiver was last overloaded. */
const recoveryMs = 12_000;
/** The longest time between two starts. */
const maxGapMs = 10_000;
/** A start that comes so late does not delay the next one: timers are as inexact. */
const slackMs = 10;
/**
 * The longest `Retry-After` that stops a whole webhook: others of its deliveries keep their promises, such as ORDER_HOLD.
 * A longer one delays only the delivery that got it. Its circuit, which all workers share, stops a webhook for longer.
 */
const maxStopMs = 30_000;
/** Longer than this no claim waits for the time of its start: it would be too old. */
export const maxClaimedMs = 200;
/** Within this time, as in a second whose attempts are used up, overloads lower the ceiling only by so much each. */
const sameOverloadMs = 1_000;
const keptShare = 0.85;
/** An attempt that lasts so many times as long as others is taken to hang. */
const hangsFromMeans = 4;
const markEveryMs = 10_000;
/** Weight of the last attempt in the mean. */
const newShare = 1 / 8;

/** An attempt's end says this about the load of its receiver; null: nothing. */
export type Sign = 'SUCCEEDED' | 'OVERLOADED' | null;

/**
 * How many attempts a receiver bears, learnt from its responses (congestion control, as CUBIC in RFC 9438). Overload
 * halves the window; successes raise it by at most one each: soon to about that in which the receiver was overloaded,
 * there slowly, and then ever faster. The clock is passed in (`nowMs`).
 */
export class Congestion {
  /** Attempts in flight; a fraction of one spaces them out. */
  #window: number;
  /** The window in which the receiver was last overloaded. */
  #ceiling: number;
  /** The window at `#sinceMs`, when it was last reduced. */
  #from: number;
  #sinceMs: number;
  /** The mean time for which a successful attempt has its place; 0: unknown. */
  #meanMs = 0;
  /** The last start, or where it should have been. */
  #startedMs = -Infinity;
  /** The end of the last `Retry-After`. */
  #stoppedUntilMs = -Infinity;
  /** When its webhook was last marked as slowed (`isUnmarked`). */
  #markedMs = -Infinity;

  constructor(window: number, ceiling: number, nowMs: number) {
    this.#window = this.#from = window;
    this.#ceiling = ceiling;
    this.#sinceMs = nowMs;
  }

  get limit(): number {
    return Math.max(1, Math.ceil(this.#window));
  }

  /** When the next attempt may start. */
  get nextMs(): number {
    return Math.max(this.#stoppedUntilMs, this.#startedMs + this.#gapMs);
  }

  started(nowMs: number): void {
    this.#startedMs = Math.max(this.#startedMs + this.#gapMs, nowMs - slackMs);
  }

  succeeded(tookMs: number, max: number, nowMs: number): void {
    this.#meanMs += (tookMs - this.#meanMs) * (this.#meanMs === 0 ? 1 : newShare);
    const left = 1 - (nowMs - this.#sinceMs) / recoveryMs;
    const aim = this.#ceiling - (this.#ceiling - this.#from) * left ** 5;
    this.#window = Math.max(this.#window, Math.min(max, this.#window + 1, aim));
  }

  /** Attempts that were in flight together halve it once. */
  overloaded(startedAtMs: number, retryAfterMs: number, nowMs: number): void {
    if (retryAfterMs > 0 && retryAfterMs <= maxStopMs)
      this.#stoppedUntilMs = Math.max(this.#stoppedUntilMs, nowMs + retryAfterMs);
    if (startedAtMs < this.#sinceMs) return;
    const isSame = nowMs - this.#sinceMs < sameOverloadMs;
    this.#ceiling = isSame ? Math.max(this.#window, this.#ceiling * keptShare) : this.#window;
    this.#reduce(this.#window / 2, nowMs);
  }

  /** It will hardly end in time. */
  isHanging(lastsMs: number): boolean {
    return this.#meanMs > 0 && lastsMs > hangsFromMeans * this.#meanMs;
  }

  /** It was not called for a time: from one attempt on, the window grows to what it was. */
  resumed(nowMs: number): void {
    this.#ceiling = Math.max(this.#ceiling, this.#window);
    this.#reduce(Math.min(1, this.#ceiling / 2), nowMs);
  }

  /** True at most every ten seconds. */
  isUnmarked(nowMs: number): boolean {
    if (nowMs - this.#markedMs < markEveryMs) return false;
    this.#markedMs = nowMs;
    return true;
  }

  #reduce(window: number, nowMs: number): void {
    const min = this.#meanMs === 0 ? 1 : this.#meanMs / maxGapMs;
    this.#window = this.#from = Math.max(window, min);
    this.#ceiling = Math.max(this.#ceiling, min);
    this.#sinceMs = nowMs;
  }

  get #gapMs(): number {
    return Math.min(maxGapMs, this.#meanMs / this.#window);
  }
}
