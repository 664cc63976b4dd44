import { type Variables } from './config-variables.js';
type Generated = 'TOKEN_SECRET' | 'SECRETS_KEY' | 'OPERATOR_TOKEN';
/** Settings as the service uses them; `embedded` tells that no DATABASE_URL was given. */
export type Config = Omit<Variables, 'HOST' | 'ALLOW_PRIVATE_TARGETS' | 'ALLOW_HTTP_TARGETS'> & {
    embedded: boolean;
    /** Undefined: all interfaces. */
    HOST: string | undefined;
    ALLOW_PRIVATE_TARGETS: boolean;
    ALLOW_HTTP_TARGETS: boolean;
};
/** Settings with the secrets that embedded mode generates filled in. */
export type CompleteConfig = Omit<Config, Generated> & Record<Generated, string>;
/** All wrong or missing variables, one line each. The program exits with 78 (EX_CONFIG). */
export declare class ConfigError extends Error {
}
/**
 * Reads the environment once. Throws ConfigError naming every wrong and every missing variable; a worker needs fewer
 * secrets than the others.
 */
export declare function parseConfig(env: Record<string, string | undefined>, role?: string): Config;
/** Throws ConfigError where a secret of the environment is one that was generated. */
export declare const requireSecretsDiffer: (config: CompleteConfig) => void;
export {};
