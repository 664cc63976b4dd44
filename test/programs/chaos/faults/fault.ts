import type { Figure } from '../../bench/scenarios/scenario.js';
import type { Needs } from '../world/deployment.js';
import type { Load } from '../load/load.js';
import type { AcceptedEvent, History, Span } from '../model.js';
import type { ApiSettings } from '../world/service.js';
import type { World } from '../world/world.js';

export interface Injection {
  world: World;
  /** Shorter in a quick run. */
  pause(ms: number): Promise<void>;
  /** Smaller in a quick run. */
  times(count: number): number;
  random(): number;
  /** The time left for faults until the load has run as long as requested. */
  leftMs(): number;
  /** Besides those of the fault itself. */
  mayRepeat(attempts: number): void;
  /** Allows events accepted in this time to be lost, and requests sent in it to be repeated. */
  mayLose(span: Span): void;
  /** Allows retries in this time before their wait is over. */
  mayRetryEarly(span: Span): void;
  /** Allows signatures of a wrong time: PostgreSQL's clock is wrong. */
  maySignWrongly(span: Span): void;
  alsoAccepted(events: AcceptedEvent[]): void;
  /** Deliveries, from this time on, must continue. */
  mark(): void;
  note(figure: Figure): void;
}

export interface Outcome {
  history: History;
  responses: Load['responses'];
  /** Epoch, in milliseconds. */
  from: number;
  to: number;
  marks: number[];
}

export interface Fault {
  name: string;
  promise: string;
  needsRedis?: boolean;
  /** Webhooks have hostnames: every notification needs a lookup. */
  byName?: boolean;
  needs?: Needs;
  workers: number;
  api?: ApiSettings;
  /** Attempts that may be in flight when it strikes, and so may be repeated. */
  inFlight: number;
  inject(injection: Injection): Promise<void>;
  figures(outcome: Outcome): Figure[];
}
