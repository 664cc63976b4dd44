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
  /** A webhook's starts are drawn ahead of time; a host's are granted when they may begin. */
  readonly drawn = 0;
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

/**
 * When attempts may begin at one webhook, by its owner's `maxPerSecond`. PostgreSQL draws the starts (`drawStarts`), so
 * that all workers keep it together.
 */
export class WebhookPace {
  /** Infinity once its owner has lifted it. */
  agreedUntilMs = -Infinity;
  /** Drawn and not used (performance.now()), the earliest first. */
  #starts: number[] = [];

  /** `host`: the pace that it keeps besides; null if that is not bounded. */
  constructor(
    readonly webhookId: string,
    public host: Pace | null,
  ) {}

  /** Claims that may wait for a start. */
  get drawn(): number {
    return this.#starts.length;
  }

  /** The next start; Infinity if none is drawn. */
  get nextMs(): number {
    return this.#starts[0] ?? Infinity;
  }

  add(starts: number[]): void {
    this.#starts.push(...starts);
  }

  take(nowMs: number): boolean {
    while (this.nextMs < nowMs - maxLateMs) this.#starts.shift();
    if (this.nextMs > nowMs || this.host?.take(nowMs) === false) return false;
    this.#starts.shift();
    return true;
  }

  /** A start that was granted is gone, whether it was used or not. */
  used(): void {}
}

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

  /** `processes`: how many send, with this one. */
  share(processes: number): void {
    this.ofThisProcess = Math.max(1, Math.floor(this.#perSecond / processes));
  }

  /** Null if nothing bounds it, or if the target cannot be opened: its attempt fails without a request. */
  of(target: Target): Pace | WebhookPace | null {
    let pace = this.#byTarget.get(target);
    if (pace !== undefined) return pace;
    try {
      const host = this.#perSecond === 0 ? null : this.#ofAddress(target.open().url);
      pace = target.maxPerSecond === null ? host : this.#ofWebhook(target.webhookId, host);
    } catch {
      pace = null;
    }
    this.#byTarget.set(target, pace);
    return pace;
  }

  #ofWebhook(webhookId: string, host: Pace | null): WebhookPace {
    const known = this.#byWebhook.get(webhookId);
    if (known && known.agreedUntilMs < Infinity) {
      known.host = host;
      return known;
    }
    if (this.#byWebhook.size >= maxPaces) this.#byWebhook.clear();
    const pace = new WebhookPace(webhookId, host);
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
