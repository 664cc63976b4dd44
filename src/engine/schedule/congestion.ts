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
/** Of so many attempts, from this share of refusals on, the receiver is overloaded whatever it refused before. */
const severeFrom = 3;
const severeShare = 0.5;
/** So many attempts show what a receiver refuses with a smaller window. */
const judgedAfter = 25;
/** Over many attempts, a share of refusals as small as this is no overload. */
const alwaysTolerated = 0.005;
/** A share as large as this is always overload, whatever its cause. */
const maxTolerated = 0.4;
const slowMs = 1_000;
/** Refusals that are no fewer than this share of those before have another cause than load. */
const sameShare = 0.7;
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
 * there slowly, and then ever faster. A receiver that refuses as many with half of the window does so for another
 * reason: it is overloaded only by more. The clock is passed in (`nowMs`).
 */
export class Congestion {
  /** Attempts in flight; a fraction of one spaces them out. */
  #window: number;
  /** The window in which the receiver was last overloaded. */
  #ceiling: number;
  /** The window at `#sinceMs`, when it was last reduced. */
  #from: number;
  #sinceMs: number;
  /** When an overload last reduced the window; a resume does not count. */
  #overloadedMs = -Infinity;
  /** Attempts that have started since the window was reduced, and those of them that were refused. */
  #ended = 0;
  #refused = 0;
  /** Those of them that have started a second later. In a new object, the first overload counts at once. */
  #judged = judgedAfter;
  #judgedRefused = 0;
  /** The share that was refused before the window was reduced. */
  #shareBefore = 1;
  /** The share that is refused without overload. */
  #tolerated = 0;
  /** The window has its highest limit again: nothing is held back until the next overload. */
  isRecovered = false;
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
    this.#count(nowMs - tookMs, 0);
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
    this.#count(startedAtMs, 1);
    const share = this.#refused / this.#ended;
    const isSevere = this.#refused >= severeFrom && share >= severeShare;
    const expected = Math.max(this.#tolerated, alwaysTolerated) * this.#judged;
    const isSaid = retryAfterMs > 0 || nowMs - startedAtMs >= slowMs;
    const isMore = this.#judged >= judgedAfter && this.#judgedRefused > expected + 2 * Math.sqrt(expected);
    if (this.#window >= 1 && !isSaid && !isSevere && !isMore) return; // attempts that are spaced out are too few to judge
    this.#shareBefore = share;
    const isSame = nowMs - this.#overloadedMs < sameOverloadMs;
    this.#overloadedMs = nowMs;
    this.#ceiling = isSame ? Math.max(this.#window, this.#ceiling * keptShare) : this.#window;
    this.#reduce(this.#window / 2, nowMs);
  }

  /** Some refusals are known to have another cause than load. */
  get isTolerant(): boolean {
    return this.#tolerated > 0;
  }

  /** It will hardly end in time. */
  isHanging(lastsMs: number): boolean {
    return this.#meanMs > 0 && lastsMs > hangsFromMeans * this.#meanMs;
  }

  /** It was not called for a time: from one attempt on, the window grows to what it was. */
  resumed(nowMs: number): void {
    this.#ceiling = Math.max(this.#ceiling, this.#window);
    this.#reduce(Math.min(1, this.#ceiling / 2), nowMs);
    this.#judged = judgedAfter; // a second later, the first overload counts at once
  }

  /** True at most every ten seconds. */
  isUnmarked(nowMs: number): boolean {
    if (nowMs - this.#markedMs < markEveryMs) return false;
    this.#markedMs = nowMs;
    return true;
  }

  #count(startedAtMs: number, refused: 0 | 1): void {
    if (startedAtMs < this.#sinceMs) return;
    this.#ended += 1;
    this.#refused += refused;
    if (startedAtMs < this.#sinceMs + sameOverloadMs) return;
    this.#judged += 1;
    this.#judgedRefused += refused;
    if (this.#judged !== judgedAfter) return;
    const share = this.#judgedRefused / judgedAfter;
    const isSame = share < maxTolerated && share >= sameShare * this.#shareBefore;
    const margin = 2 * Math.sqrt((share * (1 - share)) / judgedAfter);
    this.#tolerated = isSame ? Math.min(maxTolerated, share + margin) : 0;
  }

  #reduce(window: number, nowMs: number): void {
    this.#ended = this.#refused = this.#judged = this.#judgedRefused = 0;
    this.isRecovered = false;
    const min = this.#meanMs === 0 ? 1 : this.#meanMs / maxGapMs;
    this.#window = this.#from = Math.max(window, min);
    this.#ceiling = Math.max(this.#ceiling, min);
    this.#sinceMs = nowMs;
  }

  get #gapMs(): number {
    return Math.min(maxGapMs, this.#meanMs / this.#window);
  }
}
