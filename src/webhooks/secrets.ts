import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Keeps webhook secrets encrypted at rest: AES-256-GCM; the sealed text names its key, so keys can be rotated. */
export interface SecretBox {
  seal(secret: string): string;
  /** Throws where the text was sealed with another key or was changed. */
  open(sealed: string): string;
}

/** A new signing secret as Standard Webhooks wants it: `whsec_` and 32 random bytes in base64. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

const rememberedSecrets = 10_000;

export function createSecretBox(secretsKey: string): SecretBox {
  const key = createHash('sha256').update(secretsKey).digest();
  const keyId = createHash('sha256').update(key).digest('hex').slice(0, 8);
  const opened = new Map<string, string>();

  const decrypt = (sealed: string): string => {
    const [id, iv, tag, text] = sealed.split('.');
    if (id !== keyId || !iv || !tag || !text)
      throw new Error('The webhook secret was sealed with another SECRETS_KEY');
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'));
    decipher.setAuthTag(Buffer.from(tag, 'base64url'));
    return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()]).toString();
  };

  return {
    seal: (secret) => {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      const text = Buffer.concat([cipher.update(secret), cipher.final()]);
      return [keyId, ...[iv, cipher.getAuthTag(), text].map((part) => part.toString('base64url'))].join('.');
    },
    open: (sealed) => {
      const known = opened.get(sealed);
      if (known !== undefined) return known;
      const secret = decrypt(sealed);
      if (opened.size >= rememberedSecrets) opened.clear();
      opened.set(sealed, secret);
      return secret;
    },
  };
}
