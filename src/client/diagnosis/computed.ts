/** The wrong ways of computing a signature, as far as their result tells. */
import { digestOf, type Signed } from './digest.js';

interface Mistake {
  message: string;
  input(signed: Signed, secret: string): Signed;
}

const bytes = (text: string) => new TextEncoder().encode(text);

const mistakes: Mistake[] = [
  {
    message:
      'Your code uses the secret as text: Base64-decode what follows `whsec_`, and use those bytes as the key.',
    input: (signed, secret) => ({ ...signed, key: bytes(secret) }),
  },
  {
    message:
      'Your code removes `whsec_` but does not Base64-decode the rest: decode it, and use those bytes as the key.',
    input: (signed, secret) => ({ ...signed, key: bytes(secret.replace(/^whsec_/, '')) }),
  },
  {
    message:
      'Your code signs the body alone: sign `<webhook-id>.<webhook-timestamp>.<body>`, joined by full stops.',
    input: (signed) => ({ ...signed, prefix: '' }),
  },
  {
    message: 'Your code leaves out `webhook-id`: sign `<webhook-id>.<webhook-timestamp>.<body>`.',
    input: ({ prefix, ...signed }) => ({
      ...signed,
      prefix: prefix.slice(prefix.lastIndexOf('.', prefix.length - 2) + 1),
    }),
  },
];

/**
 * Says in a sentence what is wrong with the signature that a receiver's code computed, or with how it compares a right
 * one. `signed` is what makes the right one.
 */
export async function mistakeIn(computed: string, signed: Signed, secret: string): Promise<string> {
  const right = await digestOf(signed);
  const bare = computed.trim().replace(/^v1,/, '');
  if (bare === right && bare === computed.trim())
    return 'Your code computes the right signature but leaves `v1,` on the one in the header: compare with what follows `v1,`.';
  if (bare === right)
    return 'Your code computes the right signature: compare it with each part of the header, which are separated by spaces.';
  for (const { message, input } of mistakes) {
    if (isSame(bare, await digestOf(input(signed, secret)))) return message;
  }
  if (isSame(bare, right)) return 'Your code writes the right signature in another form: write it in Base64.';
  return 'Your code computes another signature: take HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body as received>`, and write it in Base64.';
}

/** Compares in Base64, that for URLs, without padding, or in hexadecimal. */
function isSame(given: string, digest: string): boolean {
  const hex = [...atob(digest)]
    .map((character) => character.charCodeAt(0).toString(16).padStart(2, '0'))
    .join('');
  const plain = given.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  return given.toLowerCase() === hex || plain === digest.replace(/=+$/, '');
}
