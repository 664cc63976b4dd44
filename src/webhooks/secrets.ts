import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Keeps webhook secrets encrypted at rest: AES-256-GCM; the sealed text names its key, so keys can be rotated. */
export interface SecretBox {
  /** Names the current key; every text sealed with it begins with this and a full stop. */
  keyId: string;
  seal(secret: string): string;
  /** Throws where the text was sealed with neither key or was changed. */
  open(sealed: string): string;
}

/** A new signing secret as Standard Webhooks wants it: `whsec_` and 32 random bytes in base64. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

const rememberedSecrets = 10_000;

interface Key {
  id: string;
  bytes: Buffer;
}

const deriveKey = (secretsKey: string): Key => {
  const bytes = createHash('sha256').update(secretsKey).digest();
  return { bytes, id: createHash('sha256').update(bytes).digest('hex').slice(0, 8) };
};

/** Seals with `secretsKey`; opens what was sealed with it or with `otherKey`. */
export function createSecretBox(secretsKey: string, otherKey?: string): SecretBox {
  const current = deriveKey(secretsKey);
  const keys = [current, ...(otherKey === undefined ? [] : [deriveKey(otherKey)])];
  const opened = new Map<string, string>();

  const decrypt = (sealed: string): string => {
    const [id, iv, tag, text] = sealed.split('.');
    const key = keys.find((known) => known.id === id);
    if (!key || !iv || !tag || !text)
      throw new Error('The webhook secret was sealed with another SECRETS_KEY');
    const decipher = createDecipheriv('aes-256-gcm', key.bytes, Buffer.from(iv, 'base64url'));
    decipher.setAuthTag(Buffer.from(tag, 'base64url'));
    return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()]).toString();
  };

  return {
    keyId: current.id,
    seal: (secret) => {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', current.bytes, iv);
      const text = Buffer.concat([cipher.update(secret), cipher.final()]);
      return [current.id, ...[iv, cipher.getAuthTag(), text].map((part) => part.toString('base64url'))].join(
        '.',
      );
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
