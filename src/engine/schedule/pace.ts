/** The part of a second's attempts that may begin at once. A batch of them may come late, so it is left out twice. */
const burstShare = 1 / 10;
const minRefillShare = 1 / 2;

/**
 * How many attempts may begin at one host and port, for all shippers together, until its receiver has agreed to any
 * number. So nobody can turn the service against a stranger.
 */
export class Pace {
  /** Until then any number may begin (performance.now()). */
  agreedUntilMs: number;
  /** See `WebhookPace`. At a host's pace only granted claims wait. */
  readonly maxPending = null;
  readonly shortFrom = 0;
  /** When PostgreSQL is asked next whether the receiver has agreed (performance.now()). */
  lookAtMs = -Infinity;
  #tokens = Infinity;
  #atMs = -Infinity;
  #granted = 0;

  constructor(
    readonly paces: Paces,
    readonly destination: string,
    agreedUntilMs: number,
  ) {
    this.agreedUntilMs = agreedUntilMs;
  }

  /** Takes an attempt, if one may begin. */
  take(nowMs: number): boolean {
    if (nowMs < this.agreedUntilMs) return true;
    if (!this.#hasOne(nowMs)) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Takes one for later. As many as begin at once may be granted; `used` makes room for the next. */
  grant(nowMs: number): boolean {
    if (this.#granted >= this.#burst || !this.take(nowMs)) return false;
    this.#granted += 1;
    return true;
  }

  used(count: number): void {
    this.#granted -= count;
  }

  /** Others get what was granted and is not used. */
  giveBack(count: number): void {
    this.#granted -= count;
    this.#tokens += count;
  }

  get #burst(): number {
    return Math.max(1, Math.ceil(this.paces.ofThisProcess * burstShare));
  }

  #hasOne(nowMs: number): boolean {
    const share = this.paces.ofThisProcess;
    const perSecond = Math.max(share * minRefillShare, share - 2 * this.#burst);
    this.#tokens = Math.min(this.#burst, this.#tokens + (perSecond * (nowMs - this.#atMs)) / 1_000);
    this.#atMs = nowMs;
    return this.#tokens >= 1;
  }
}

/**
 * A start that comes later than this is lost: nothing is saved up for a burst. `drawStarts` leaves more than this between
 * the starts of two seconds, since the sending thread may be late as well.
 */
const maxLateMs = 40;
/** The first start leaves time to tell the process. */
export const leadMs = 20;

/** Starts that are drawn, as far apart as a webhook's `maxPerSecond` asks (performance.now()). */
export interface Starts {
  firstMs: number;
  stepMs: number;
  count: number;
}

/** A process that sends alone draws every start this far ahead: one statement serves many claims. */
const aloneWithinMs = 1_000;
/** It draws again when only this much is left. */
const aloneLeftMs = 150;
/** Beside others, a process draws starts for what it has or will pull, so near that claims are not too old by then. */
const besideWithinMs = 300;
/** No starts are drawn ahead for a webhook that has used none for this long. */
const usedForMs = 1_000;
/** A webhook counts as held back if claims wait for longer than this. */
const shortFromMs = 100;

/**
 * When attempts may begin at one webhook, by its owner's `maxPerSecond`. PostgreSQL draws the starts (`drawStarts`), so
 * that all workers keep it together.
 */
export class WebhookPace {
  /** Infinity once its owner has lifted it. */
  agreedUntilMs = -Infinity;
  /** Drawn, and neither used nor late, the earliest first. */
  readonly #starts: Starts[] = [];
  /** The end of what this process has drawn. */
  #untilMs = -Infinity;
  #usedAtMs = -Infinity;
  /** Its host had no room for a start lately. */
  #isAtHost = false;

  /** `host`: the pace that it keeps besides; null if that is not bounded. */
  constructor(
    readonly paces: Paces,
    readonly webhookId: string,
    public perSecond: number,
    public host: Pace | null,
  ) {}

  /**
   * How many claims may wait for a start: the share of this process in those of the near future. If a host bounds them as
   * well, nobody knows when they would start.
   */
  get maxPending(): number {
    return this.#isAtHost ? 1 : Math.max(1, Math.ceil(this.#within(besideWithinMs) / this.paces.processes));
  }

  /** From this many claims on, it keeps them waiting. */
  get shortFrom(): number {
    return Math.max(1, this.#within(shortFromMs));
  }

  #within(ms: number): number {
    return Math.floor((this.perSecond * ms) / 1_000);
  }

  /** The next start; Infinity if none is drawn. */
  get nextMs(): number {
    return this.#starts[0]?.firstMs ?? Infinity;
  }

  /** How many are to be drawn for `waiting` claims and `due` deliveries. */
  wanted(waiting: number, due: number, nowMs: number): number {
    if (this.paces.processes > 1) {
      const drawn = this.#starts.reduce((sum, { count }) => sum + count, 0);
      const isEnough = drawn > this.maxPending / 2;
      return isEnough ? 0 : Math.max(0, Math.min(this.maxPending, waiting + due - drawn));
    }
    const isUsed = waiting > 0 || nowMs - this.#usedAtMs < usedForMs;
    const isEnough = this.#untilMs - nowMs >= aloneLeftMs;
    return isUsed && !isEnough ? Math.ceil(this.perSecond) : 0;
  }

  add(starts: Starts): void {
    const { firstMs, stepMs, count } = starts;
    if (count === 0) return;
    this.#starts.push(starts);
    this.#untilMs = firstMs + stepMs * count;
  }

  take(nowMs: number): boolean {
    let next = this.#starts[0];
    for (; next; next = this.#starts[0]) {
      const late = Math.ceil((nowMs - maxLateMs - next.firstMs) / next.stepMs);
      if (late > 0) skip(next, Math.min(late, next.count));
      if (next.count > 0) break;
      this.#starts.shift();
    }
    if (!next || next.firstMs > nowMs) return false;
    this.#isAtHost = this.host?.take(nowMs) === false;
    if (this.#isAtHost) return false;
    skip(next, 1);
    if (next.count === 0) this.#starts.shift();
    this.#usedAtMs = nowMs;
    return true;
  }

  /** A start that was granted is gone, whether it was used or not. */
  used(): void {}
}

const skip = (starts: Starts, count: number) => {
  starts.firstMs += starts.stepMs * count;
  starts.count -= count;
};

/** `host:port`, in lower case. */
export function destinationOf(address: string): string {
  const { protocol, hostname, port } = new URL(address);
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

/** A target of a webhook, at one of its addresses (`Target`). */
interface Target {
  webhookId: string;
  maxPerSecond: number | null;
  open(): { url: string };
}

const maxPaces = 10_000;

/** The paces of the hosts and webhooks that this process sends to. */
export class Paces {
  /** Attempts that this process may begin at one host within a second. */
  ofThisProcess: number;
  /** How many send, with this one. */
  processes = 1;
  readonly #perSecond: number;
  readonly #agreed: ReadonlySet<string>;
  readonly #byDestination = new Map<string, Pace>();
  readonly #byWebhook = new Map<string, WebhookPace>();
  readonly #byTarget = new WeakMap<Target, Pace | WebhookPace | null>();

  /** `perSecond`: 0 if hosts have none. `agreed`: hosts, or `host:port`, that the operator has listed. */
  constructor(perSecond: number, agreed: readonly string[]) {
    this.#perSecond = this.ofThisProcess = perSecond;
    this.#agreed = new Set(agreed);
  }

  /** How far ahead the starts of webhooks are drawn. */
  get drawnWithinMs(): number {
    return this.processes > 1 ? besideWithinMs : aloneWithinMs;
  }

  share(processes: number): void {
    this.processes = processes;
    this.ofThisProcess = Math.max(1, Math.floor(this.#perSecond / processes));
  }

  /** Null if nothing bounds it, or if the target cannot be opened: its attempt fails without a request. */
  of(target: Target): Pace | WebhookPace | null {
    let pace = this.#byTarget.get(target);
    if (pace !== undefined) return pace;
    try {
      const host = this.#perSecond === 0 ? null : this.#ofAddress(target.open().url);
      const { webhookId, maxPerSecond } = target;
      pace = maxPerSecond === null ? host : this.#ofWebhook(webhookId, maxPerSecond, host);
    } catch {
      pace = null;
    }
    this.#byTarget.set(target, pace);
    return pace;
  }

  #ofWebhook(webhookId: string, perSecond: number, host: Pace | null): WebhookPace {
    const known = this.#byWebhook.get(webhookId);
    if (known && known.agreedUntilMs < Infinity) {
      known.perSecond = perSecond;
      known.host = host;
      return known;
    }
    if (this.#byWebhook.size >= maxPaces) this.#byWebhook.clear();
    const pace = new WebhookPace(this, webhookId, perSecond, host);
    this.#byWebhook.set(webhookId, pace);
    return pace;
  }

  #ofAddress(address: string): Pace {
    const destination = destinationOf(address);
    const known = this.#byDestination.get(destination);
    if (known) return known;
    // Lanes keep those that they wait for.
    if (this.#byDestination.size >= maxPaces) this.#byDestination.clear();
    const host = destination.slice(0, destination.lastIndexOf(':'));
    const isListed = this.#agreed.has(host) || this.#agreed.has(destination);
    const pace = new Pace(this, destination, isListed ? Infinity : -Infinity);
    this.#byDestination.set(destination, pace);
    return pace;
  }
}
