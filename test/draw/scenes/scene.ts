import type { Red } from '../halves.js';
import type { Environment } from '../world/environment.js';
import type { Traffic } from '../world/traffic.js';

export interface Struck {
  environment: Environment;
  traffic: Traffic;
  /** Prometheus scrapes what stands in `targets` of the environments from now on. */
  discover(): void;
}

/** What happens to one environment, and what is to be seen of it. */
export interface Part {
  /** Done once all is well and quiet. What it begins and does not end is ended with the scene. */
  strike?: (struck: Struck) => Promise<void> | void;
  /** What is told (by Alertmanager, with the shipped inhibitions), and within how many seconds of the strike. */
  told: Record<string, number>;
  /** What may be told besides, and why. */
  mayBeTold?: Record<string, string>;
  /** PostgreSQL does not answer the boards that ask it; what they ask is then no error. */
  isSilent?: boolean;
  /** Which half of Overview's first row is red then. */
  red: Red;
}

export interface Scene {
  name: string;
  title: string;
  /** What happens, in one sentence: it stands below each drawing. */
  what: string;
  /** Of the service, where they are not the usual ones. */
  settings?: Record<string, string>;
  /** How long it is watched at least after the strike, in seconds, for what is not to be told. */
  watched: number;
  environments: Record<string, Part>;
  /** The boards that are drawn; all are asked. */
  drawn: string[];
}
