import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { crc32 } from 'node:zlib';
import { hash, verify } from '@node-rs/argon2';
import { createGate } from '../platform/limits/gate.js';

/** OWASP Password Storage Cheat Sheet: Argon2id with 19 MiB of memory, 2 iterations, 1 lane. */
const argon2id = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** The kinds are served in this order. An address block's kind follows from its failures in the last hour. */
export const hashingKinds = { known: 0, new: 1, fewFailures: 2, manyFailures: 3 } as const;

/**
 * A hash takes a core and 19 MiB for about 25 ms. At most half of the cores and of Node's four threads are used, so that
 * logins starve neither the API nor DNS lookups. Each queue is short enough to be served within about a second.
 */
export const hashing = createGate({
  concurrency: Math.max(1, Math.min(2, Math.floor(availableParallelism() / 2))),
  maxWaiting: 40,
  maxWaitMs: 5_000,
  kinds: Object.keys(hashingKinds).length,
});

/** A password as text, the same from every keyboard (RFC 8265, OpaqueString). */
export const preparedPassword = (password: string): string =>
  password.replace(/\p{Zs}/gu, ' ').normalize('NFC');

export const hashPassword = (password: string): Promise<string> => hash(preparedPassword(password), argon2id);

/** Takes the same time against a decoy if there is no stored hash. Older hashes are of the text as it was sent. */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  const decoyText = await decoyHash(); // always, so that the first call without a hash takes no longer
  for (const text of new Set([preparedPassword(password), password]))
    if (await verify(stored ?? decoyText, text).catch(() => false)) return stored !== null;
  return false;
}

let decoy: Promise<string> | undefined;
const decoyHash = () => (decoy ??= hashPassword(randomBytes(16).toString('hex')));

export const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The prefix by which a proxy in front of several cells finds the one that made a secret. */
const ofCell = (cell: string | undefined): string => (cell === undefined ? '' : `${cell}_`);

/** 160 random bits; stored as a hash only. */
export const newAccountKey = (cell: string | undefined): string =>
  `ak_${ofCell(cell)}${randomBytes(20).toString('base64url')}`;

/** 256 random bits for a password link; stored as a hash only. */
export const newLinkToken = (cell: string | undefined): string =>
  `${ofCell(cell)}${randomBytes(32).toString('base64url')}`;

export const linkTokenPattern = /^(?:[a-z]{2}_)?[\w-]{43}$/;

/** Decides which kind of credential a bearer token is. */
export const programTokenPrefix = 'phk_';

/** The cell, if there is one; 256 random bits; a checksum of all before it. */
const programTokenForm = /^phk_(?:[a-z]{2}_)?[0-9A-Za-z]{49}$/;
const checksumLength = 6;

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function base62(number: bigint, length: number): string {
  let text = '';
  for (let rest = number; text.length < length; rest /= 62n) text = digits[Number(rest % 62n)]! + text;
  return text;
}

/** By it a scanner recognises a leaked token, and the service one that was cut off, without a lookup. */
const checksumOf = (text: string): string => base62(BigInt(crc32(text)), checksumLength);

/** Stored as a hash only. */
export function newProgramToken(cell: string | undefined): string {
  const bits = BigInt(`0x${randomBytes(32).toString('hex')}`);
  const text = `${programTokenPrefix}${ofCell(cell)}${base62(bits, 43)}`;
  return text + checksumOf(text);
}

export const isProgramToken = (text: string): boolean =>
  programTokenForm.test(text) && checksumOf(text.slice(0, -checksumLength)) === text.slice(-checksumLength);

export const sameText = (a: string, b: string): boolean => timingSafeEqual(sha256(a), sha256(b));
