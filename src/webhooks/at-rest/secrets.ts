import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** What a text belongs to; a sealed one opens nowhere else. Both secrets of a rotation are the field `secret`. */
export interface SealedField {
  /** Empty for a value that belongs to no webhook. */
  webhookId: string;
  field: string;
}

/** Keeps texts encrypted at rest: AES-256-GCM; a sealed text names its form and its key, so both can change. */
export interface SecretBox {
  /** Every text sealed with the current key begins with this. */
  prefix: string;
  seal(text: string, where: SealedField): string;
  /** Throws where the text was sealed with neither key, was changed, or belongs elsewhere. */
  open(sealed: string, where: SealedField): string;
}

/** A new signing secret as Standard Webhooks wants it: `whsec_` and 32 random bytes in base64. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** What is sealed begins with this: another form would have another one. */
const sealedForm = '1:';

const algorithm = 'aes-256-gcm';
const authTagLength = 16;

interface Key {
  id: string;
  bytes: Buffer;
}

const deriveKey = (secretsKey: string): Key => {
  const bytes = createHash('sha256').update(secretsKey).digest();
  return { bytes, id: createHash('sha256').update(bytes).digest('hex').slice(0, 8) };
};

const boundTo = ({ webhookId, field }: SealedField) => Buffer.from(`${webhookId} ${field}`);

/** Seals with `secretsKey`; opens what was sealed with it or with `otherKey`. */
export function createSecretBox(secretsKey: string, otherKey?: string): SecretBox {
  const current = deriveKey(secretsKey);
  const keys = [current, ...(otherKey === undefined ? [] : [deriveKey(otherKey)])];
  const prefix = `${sealedForm}${current.id}.`;

  return {
    prefix,
    seal: (text, where) => {
      const iv = randomBytes(12);
      const cipher = createCipheriv(algorithm, current.bytes, iv, { authTagLength });
      cipher.setAAD(boundTo(where));
      const sealed = Buffer.concat([cipher.update(text), cipher.final()]);
      return prefix + [iv, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url')).join('.');
    },
    open: (sealed, where) => {
      const [form, ...parts] = sealed.split('.');
      const key = keys.find(({ id }) => form === sealedForm + id);
      const [iv, tag, text] = parts.map((part) => Buffer.from(part, 'base64url'));
      if (!key || !iv || !tag || !text) throw new Error('It was sealed with another SECRETS_KEY');
      const decipher = createDecipheriv(algorithm, key.bytes, iv, { authTagLength });
      decipher.setAAD(boundTo(where));
      decipher.setAuthTag(tag);
      return Buffer.concat([decipher.update(text), decipher.final()]).toString();
    },
  };
}
