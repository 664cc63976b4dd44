export interface Hook {
  /** Its path at the receiver: `/h/0-all`. */
  path: string;
  webhookId: string;
  secret: string;
  shipper: number;
  /** Null: all states. */
  interests: string[] | null;
  ordered: boolean;
}

/** When its response came, and when it was undone (`Infinity`: never). */
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

/** It got 2xx. Times are milliseconds since 1970. */
export interface AcceptedEvent {
  trackingId: string;
  shipper: number;
  state: string;
  at: number;
}

export interface Entry {
  path: string;
  id: string;
  attempt: number;
  sequence: number;
  trackingId: string;
  state: string;
  digest: string;
  verified: boolean;
  clockOffMs: number;
  at: number;
  endedAt: number;
  statusCode: number;
}

export interface LoggedAttempt {
  path: string;
  id: string;
  number: number;
  /** Null together with `durationMs`: its outcome is unknown. */
  statusCode: number | null;
  durationMs: number | null;
}

export interface History {
  hooks: Hook[];
  stops: Stop[];
  accepted: AcceptedEvent[];
  journal: Entry[];
  log: LoggedAttempt[];
  /** When the clock of PostgreSQL was wrong, which signatures follow. */
  clockWrong: Span[];
  /** When accepted events may have been lost: PostgreSQL's standby did not have them. */
  mayBeLost: Span[];
  /** When waits may have ended early: the processes of PostgreSQL had different clocks. */
  mayBeEarly: Span[];
  retryScheduleMs: number[];
  /** Other problems: never accepted, never settled, ended unexpectedly. */
  troubles: string[];
  output: string;
}

export interface Violation {
  invariant: string;
  what: string;
}
