import type { Red } from '../halves.js';
import type { Environment } from '../world/environment.js';
import type { Traffic } from '../world/traffic.js';

export interface Struck {
  environment: Environment;
  traffic: Traffic;
  /** Prometheus scrapes what stands in `targets` of the environments from now on. */
  discover(): void;
}

export interface Part {
  /** Runs once everything is quiet. Anything it leaves running ends with the scene. */
  strike?: (struck: Struck) => Promise<void> | void;
  /** Alerts that Alertmanager sends, with the shipped inhibitions, each with its bound in seconds after the strike. */
  told: Record<string, number>;
  /** Alerts that may fire besides, each with its reason. */
  mayBeTold?: Record<string, string>;
  /** PostgreSQL does not answer the boards that ask it; what they ask is then no error. */
  isSilent?: boolean;
  red: Red;
}

export interface Scene {
  name: string;
  title: string;
  /** One sentence on the event, shown below each drawing. */
  what: string;
  /** The service's settings, where they are not the usual ones. */
  settings?: Record<string, string>;
  /** How long it is watched at least after the strike, in seconds, for what is not to be told. */
  watched: number;
  environments: Record<string, Part>;
  /** The boards that are drawn; all are asked. */
  drawn: string[];
}
