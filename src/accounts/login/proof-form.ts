import type { Request } from 'express';
import { unauthorized } from '../../platform/errors.js';

/** What follows the scheme in a header Authorization. */
const forms = {
  Bearer: { pattern: /^Bearer +([\w.~+/=-]{1,4096})$/i, words: 'Bearer, a space and a token' },
  Basic: {
    pattern: /^Basic +([A-Za-z0-9+/_=-]{1,4096})$/i,
    words: 'Basic, a space and e-mail:password in Base64',
  },
};
type Scheme = keyof typeof forms;

/** The account key and what the header Authorization bears. Throws 401 that says what is absent or malformed. */
export function keyAndProof(request: Request, scheme: Scheme): { accountKey: string; proof: string } {
  const { key } = request.query;
  const header = request.get('authorization') ?? '';
  const problems = [...keyProblems(key), ...headerProblems(header, scheme)];
  if (problems.length > 0) throw unauthorized(scheme, problems.join(' '));
  return { accountKey: key as string, proof: proofIn(header, scheme)! };
}

/** The bearer token of a request, if it has one. */
export const tokenIn = (request: Request): string | undefined =>
  proofIn(request.get('authorization') ?? '', 'Bearer');

/** The token of who needs no account key; throws as `keyAndProof` does. */
export function tokenOf(request: Request): string {
  const header = request.get('authorization') ?? '';
  const problems = headerProblems(header, 'Bearer');
  if (problems.length > 0) throw unauthorized('Bearer', problems.join(' '));
  return proofIn(header, 'Bearer')!;
}

export const malformed = (scheme: Scheme) =>
  `The header Authorization is malformed: it must be ${forms[scheme].words}.`;

const proofIn = (header: string, scheme: Scheme): string | undefined =>
  forms[scheme].pattern.exec(header)?.[1];

function keyProblems(key: unknown): string[] {
  if (key === undefined || key === '') return ['The query parameter key is missing.'];
  if (Array.isArray(key)) return ['The query parameter key is given more than once.'];
  return (key as string).length > 255 ? ['The query parameter key is longer than any account key.'] : [];
}

function headerProblems(header: string, scheme: Scheme): string[] {
  if (header === '') return [`The header Authorization is missing: it must be ${forms[scheme].words}.`];
  if (proofIn(header, scheme)) return [];
  const other = Object.keys(forms).find((name) => header.toLowerCase().startsWith(name.toLowerCase()));
  if (other === undefined || other === scheme) return [malformed(scheme)];
  return [`The header Authorization is ${other} where ${scheme} is due: it must be ${forms[scheme].words}.`];
}
