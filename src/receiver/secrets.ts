import { readFileSync } from 'node:fs';

/** Secrets in a text, separated by spaces or commas. Throws if one cannot be a secret. */
export function parseSecrets(text: string): string[] {
  const secrets = text.split(/[\s,]+/).filter(Boolean);
  for (const secret of secrets) {
    if (!/^(whsec_)?[A-Za-z0-9+/]{2,}={0,2}$/.test(secret)) {
      throw new Error('A webhook secret looks like whsec_ followed by base64.');
    }
  }
  return secrets;
}

/**
 * The secrets a file holds now: every whsec_… in it, so that the answer to creating or rotating a webhook can be
 * kept there as it is. No file: none yet.
 */
export function secretsInFile(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').match(/whsec_[A-Za-z0-9+/]{2,}={0,2}/g) ?? [];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
