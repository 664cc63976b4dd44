import { randomBytes } from 'node:crypto';
import type { CompleteConfig, Config } from './config.js';

const nobodyKnows = () => randomBytes(32).toString('base64url');

/** A worker signs no token and serves no operator: for what it was not given stands a secret that nobody knows. */
export const completeConfig = (config: Config): CompleteConfig => ({
  ...config,
  SECRETS_KEY: config.SECRETS_KEY!,
  TOKEN_SECRET: config.TOKEN_SECRET ?? nobodyKnows(),
  OPERATOR_TOKEN: config.OPERATOR_TOKEN ?? nobodyKnows(),
});
