import type { Figure } from '../../bench/scenarios/scenario.js';
import type { Needs } from '../world/deployment.js';
import type { Load } from '../load/load.js';
import type { AcceptedEvent, History, Span } from '../model.js';
import type { ApiSettings } from '../world/service.js';
import type { World } from '../world/world.js';

/** What a fault may do while the load goes on. */
export interface Injection {
  world: World;
  /** Waits; shorter in a quick run. */
  pause(ms: number): Promise<void>;
  /** A count; smaller in a quick run. */
  times(count: number): number;
  random(): number;
  /** What is left for faults until the load has gone on for as long as was asked. */
  leftMs(): number;
  /** So many attempts in flight may come twice, besides those of the fault itself. */
  mayRepeat(attempts: number): void;
  /** What was accepted in this time may be gone, and what was sent in it may come again. */
  mayLose(span: Span): void;
  /** Accepted besides the load, and checked with it. */
  alsoAccepted(events: AcceptedEvent[]): void;
  /** From this moment on deliveries must go on again. */
  mark(): void;
  /** A figure only the fault itself can take. */
  note(figure: Figure): void;
}

/** A run when it is over. */
export interface Outcome {
  history: History;
  answers: Load['answers'];
  /** When the fault began and ended, in milliseconds since 1970. */
  from: number;
  to: number;
  marks: number[];
}

export interface Fault {
  name: string;
  /** What is done, and what must hold besides the invariants. */
  promise: string;
  /** It is done to Redis. */
  needsRedis?: boolean;
  /** Webhooks have names, and every notification needs a lookup. */
  byName?: boolean;
  needs?: Needs;
  workers: number;
  api?: ApiSettings;
  /** Attempts that may have been in flight when it struck: so many may come twice. */
  inFlight: number;
  inject(injection: Injection): Promise<void>;
  figures(outcome: Outcome): Figure[];
}
