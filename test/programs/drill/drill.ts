import type { Figure } from '../bench/scenarios/scenario.js';
import type { Closing } from '../chaos/world/engines.js';

/** A program that a drill starts, and the Debian package that has it. */
export interface Program {
  file: string;
  debian: string;
}

export interface DrillOptions {
  /** Removed afterwards. Others may enter it, so that a program may run as another user. */
  folder: string;
  eventsPerSecond: number;
  /** Where to write when a backup was verified. */
  textfile: string | undefined;
  /** Called at the end, the last one first. */
  closing: Closing;
  /** Progress, on standard error. */
  say(line: string): void;
}

/** A scene of a drill: something done to a running deployment, and its result. */
export interface Scene {
  name: string;
  /** Orders and states that got 2xx. */
  accepted: number;
  /** Accepted, and never received. */
  lost: number;
  /** Received again after a success. */
  twice: number;
  /** The time until it was over. */
  seconds: number;
  figures: Figure[];
  /** Empty if everything was as promised. */
  violations: string[];
}

export interface Drill {
  promise: string;
  programs: Program[];
  run(options: DrillOptions): Promise<Scene[]>;
}
