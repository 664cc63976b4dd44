import type { CompleteConfig, Config } from './config.js';
/** A worker signs no token and serves no operator: for what it was not given stands a secret that nobody knows. */
export declare const completeConfig: (config: Config) => CompleteConfig;
