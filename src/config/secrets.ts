import * as z from 'zod';
import type { OperatorScope } from '../http/route.js';

export const longSecret = (length: number) =>
  z
    .string()
    .refine(
      (text) => text.trim().length >= length,
      `must have at least ${length} characters, not counting blanks`,
    );

/** What a header can bear. Spaces or a line break around it would be part of it, and never match. */
export const bearerToken = z
  .string()
  .regex(/^[\w.~+/=-]{16,512}$/, 'must be 16 to 512 characters of A-Z a-z 0-9 . ~ + / = _ -, without blanks');

/** Bearer tokens of the operator API, each with a name for the audit log and what it allows. */
export const operatorTokens = z.string().transform((text, context) => {
  if (text === '') return [];
  const tokens = text.split(',').map((entry) => {
    const [, name = '', scope = '', token = ''] =
      /^([\w-]{1,64}):(read|events|admin):([\w.~+/=-]{16,512})$/.exec(entry.trim()) ?? [];
    return { name, scope: scope as OperatorScope, token };
  });
  const names = new Set(['operator', ...tokens.map(({ name }) => name)]);
  if (tokens.every(({ token }) => token) && names.size === tokens.length + 1) return tokens;
  context.addIssue(
    'must be name:scope:token by commas: names that differ, none of them operator; scope read, events or admin; 16 to 512 characters of A-Z a-z 0-9 . ~ + / = _ -',
  );
  return z.NEVER;
});

export interface Secrets {
  TOKEN_SECRET?: string | undefined;
  TOKEN_SECRET_PREVIOUS?: string | undefined;
  SECRETS_KEY?: string | undefined;
  SECRETS_KEY_PREVIOUS?: string | undefined;
  OPERATOR_TOKEN?: string | undefined;
  OPERATOR_TOKENS?: { token: string }[] | undefined;
  METRICS_TOKEN?: string | undefined;
}

const names = [
  'TOKEN_SECRET',
  'TOKEN_SECRET_PREVIOUS',
  'SECRETS_KEY',
  'SECRETS_KEY_PREVIOUS',
  'OPERATOR_TOKEN',
  'METRICS_TOKEN',
] as const;

/** Says of every secret that is another one, too, which: who learns the lesser has the greater. */
export function equalSecrets(values: Secrets): string[] {
  const secrets = [
    ...names.map((name) => ({ name, value: values[name]?.trim() })),
    ...(values.OPERATOR_TOKENS ?? []).map(({ token }) => ({ name: 'OPERATOR_TOKENS', value: token })),
  ];
  const first = new Map<string, string>();
  const problems = new Set<string>();
  for (const { name, value } of secrets) {
    if (value === undefined) continue;
    const other = first.get(value);
    if (other === undefined) first.set(value, name);
    else if (other === name) problems.add(`${name}: no two tokens may be equal`);
    else problems.add(`${name}: must differ from ${other}`);
  }
  return [...problems];
}
