import type { Measured } from '../figures.js';
import type { Settings } from '../settings.js';
import type { System } from '../system.js';

export interface Phase {
  name: string;
  title: string;
  cases(settings: Settings): Case[];
}

/** Measured on each system in sequence; removes what it deploys. */
export interface Case {
  title: string;
  run(system: System, settings: Settings, say: (line: string) => void): Promise<Measured[]>;
}
