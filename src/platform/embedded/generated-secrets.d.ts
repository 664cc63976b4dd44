declare const names: readonly ['TOKEN_SECRET', 'SECRETS_KEY', 'OPERATOR_TOKEN'];
type Secrets = Record<(typeof names)[number], string>;
/**
 * The secrets of embedded mode: made on the first start, kept in DATA_DIR/secrets.json for its owner only. What
 * the environment sets comes first.
 */
export declare function generatedSecrets(dataDir: string, given: Partial<Record<keyof Secrets, string | undefined>>): Secrets;
export {};
