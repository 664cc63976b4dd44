/** Secrets in a text, separated by spaces or commas. Throws if one cannot be a secret. */
export declare function parseSecrets(text: string): string[];
/**
 * The secrets a file holds now: every whsec_… in it, so that the answer to creating or rotating a webhook can be
 * kept there as it is. No file: none yet.
 */
export declare function secretsInFile(file: string): string[];
