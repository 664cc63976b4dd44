/** A registered webhook, and what it is to get. */
export interface Hook {
  /** Its path at the receiver: `/h/0-all`. */
  path: string;
  webhookId: string;
  secret: string;
  /** Number of its shipper. */
  shipper: number;
  /** Null: all states. */
  interests: string[] | null;
  ordered: boolean;
}

/** A delete or pause of a webhook: when it was answered, and when it was undone again (`Infinity`: never). */
export interface Stop {
  path: string;
  from: number;
  to: number;
  deleted: boolean;
}

/** Milliseconds since 1970. */
export interface Span {
  from: number;
  to: number;
}

/** An event answered with 2xx. Times are milliseconds since 1970. */
export interface AcceptedEvent {
  trackingId: string;
  shipper: number;
  state: string;
  at: number;
}

/** One request as the receiver's journal has it. */
export interface Entry {
  path: string;
  /** `webhook-id` */
  id: string;
  attempt: number;
  sequence: number;
  trackingId: string;
  state: string;
  /** SHA-256 of the body. */
  digest: string;
  /** The signature verifies. */
  verified: boolean;
  /** How far the time that was signed is off. */
  clockOffMs: number;
  at: number;
  /** When it was answered. */
  endedAt: number;
  /** What it was answered. */
  statusCode: number;
}

/** One attempt as the delivery log has it. */
export interface LoggedAttempt {
  path: string;
  id: string;
  number: number;
  /** Null together with `durationMs`: its outcome is unknown. */
  statusCode: number | null;
  durationMs: number | null;
}

/** All that is known of a run when it is over. */
export interface History {
  hooks: Hook[];
  stops: Stop[];
  accepted: AcceptedEvent[];
  /** In the order of arrival. */
  journal: Entry[];
  log: LoggedAttempt[];
  /** When a clock of the service was set wrong. */
  clockWrong: Span[];
  /** When what was answered with 2xx may have been lost: PostgreSQL's standby had not heard of it. */
  mayBeLost: Span[];
  /** RETRY_SCHEDULE, in milliseconds. */
  retryScheduleMs: number[];
  /** What went wrong besides: never accepted, never settled, ended of its own accord. */
  troubles: string[];
  /** Output of all processes of the service. */
  output: string;
}

export interface Violation {
  invariant: string;
  what: string;
}
