import type { Figure } from '../../bench/scenarios/scenario.js';
import type { Needs } from '../world/deployment.js';
import type { Load } from '../load/load.js';
import type { AcceptedEvent, History, Span } from '../model.js';
import type { ApiSettings } from '../world/service.js';
import type { World } from '../world/world.js';

/** The means of a fault during the load. */
export interface Injection {
  world: World;
  /** Waits; shorter in a quick run. */
  pause(ms: number): Promise<void>;
  /** A count; smaller in a quick run. */
  times(count: number): number;
  random(): number;
  /** The time left for faults until the load has run as long as requested. */
  leftMs(): number;
  /** Allows this many more attempts in flight to be repeated, besides those of the fault itself. */
  mayRepeat(attempts: number): void;
  /** Allows events accepted in this time to be lost, and requests sent in it to be repeated. */
  mayLose(span: Span): void;
  /** Adds events accepted outside the load to the check. */
  alsoAccepted(events: AcceptedEvent[]): void;
  /** From this time on deliveries must continue. */
  mark(): void;
  /** Adds a figure that only the fault itself can measure. */
  note(figure: Figure): void;
}

export interface Outcome {
  history: History;
  responses: Load['responses'];
  /** When the fault began and ended, in milliseconds since 1970. */
  from: number;
  to: number;
  marks: number[];
}

export interface Fault {
  name: string;
  /** The fault, and the promise besides the invariants. */
  promise: string;
  /** The fault strikes Redis. */
  needsRedis?: boolean;
  /** Webhooks have hostnames, and every notification needs a lookup. */
  byName?: boolean;
  needs?: Needs;
  workers: number;
  api?: ApiSettings;
  /** Attempts that may be in flight when it strikes, and so may be repeated. */
  inFlight: number;
  inject(injection: Injection): Promise<void>;
  figures(outcome: Outcome): Figure[];
}
