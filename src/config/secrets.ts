import * as z from 'zod';
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OperatorScope } from '../http/route.js';
import { codeOf, ConfigError, describeError } from '../platform/errors.js';
import { readAs, readList } from '../platform/quantity.js';

export const longSecret = z
  .string()
  .refine(
    (text) => text.trim().length >= 32,
    'must have at least 32 characters, not counting surrounding whitespace',
  );

/** Surrounding spaces or a line break would be part of the token, and never match. */
export const bearerToken = z
  .string()
  .regex(/^[\w.~+/=-]{16,512}$/, 'must be 16 to 512 characters of A-Z a-z 0-9 . ~ + / = _ -, without spaces');

/** Each token has a name for the audit log and a scope. */
export const operatorTokens = readAs((text) => {
  if (text === '') return [];
  const tokens = readList(text, (entry) => {
    const [, name, scope, token] =
      /^([\w-]{1,64}):(read|events|admin):([\w.~+/=-]{16,512})$/.exec(entry) ?? [];
    return name && token ? { name, scope: scope as OperatorScope, token } : null;
  });
  const names = new Set(['operator', ...(tokens ?? []).map(({ name }) => name)]);
  return names.size === (tokens ?? []).length + 1 ? tokens : null;
}, 'must be name:scope:token, several separated by commas; each name must be unique and not operator, each scope read, events or admin, each token 16 to 512 characters of A-Z a-z 0-9 . ~ + / = _ -');

interface GivenSecrets {
  TOKEN_SECRET?: string | undefined;
  TOKEN_SECRET_PREVIOUS?: string | undefined;
  SECRETS_KEY?: string | undefined;
  SECRETS_KEY_PREVIOUS?: string | undefined;
  OPERATOR_TOKEN?: string | undefined;
  OPERATOR_TOKENS?: { token: string }[] | undefined;
  METRICS_TOKEN?: string | undefined;
}

const comparedNames = [
  'TOKEN_SECRET',
  'TOKEN_SECRET_PREVIOUS',
  'SECRETS_KEY',
  'SECRETS_KEY_PREVIOUS',
  'OPERATOR_TOKEN',
  'METRICS_TOKEN',
] as const;

/** A problem for each secret that equals another: a person who reads one would also have the other. */
export function equalSecrets(values: GivenSecrets): string[] {
  const secrets = [
    ...comparedNames.map((name) => ({ name, value: values[name]?.trim() })),
    ...(values.OPERATOR_TOKENS ?? []).map(({ token }) => ({ name: 'OPERATOR_TOKENS', value: token })),
  ];
  const first = new Map<string, string>();
  const problems = new Set<string>();
  for (const { name, value } of secrets) {
    if (value === undefined) continue;
    const other = first.get(value);
    if (other === undefined) first.set(value, name);
    else if (other === name) problems.add(`${name}: tokens must differ from each other`);
    else problems.add(`${name}: must differ from ${other}`);
  }
  return [...problems];
}

const secretNames = [
  ...comparedNames,
  'OPERATOR_TOKENS',
  'DATABASE_URL',
  'MIGRATION_DATABASE_URL',
  'DATABASE_READ_URL',
  'REDIS_URL',
  'EGRESS_PROXY',
  'SMTP_URL',
] as const;

export const secretFileNames = secretNames.map((name) => `${name}_FILE`);

/**
 * Each secret `…` may be given as a file instead, whose path is in `…_FILE`, as Docker and Kubernetes mount
 * them. Returns the environment with the contents, and a problem for each file that gives none.
 */
export function withSecretFiles(given: Record<string, string | undefined>) {
  const env = { ...given };
  const problems: string[] = [];
  for (const name of secretNames) {
    const path = given[`${name}_FILE`];
    if (path === undefined) continue;
    try {
      if (given[name] !== undefined) throw new Error(`cannot be combined with ${name}`);
      const secret = readFileSync(path, 'utf8').replace(/[\r\n]+$/, ''); // editors and `echo` add a line break
      if (secret === '') throw new Error('is empty');
      env[name] = secret;
    } catch (error) {
      problems.push(`${name}_FILE: ${describeError(error)}`);
    }
  }
  return { env, problems };
}

const generatedNames = ['TOKEN_SECRET', 'SECRETS_KEY', 'OPERATOR_TOKEN'] as const;
export type GeneratedName = (typeof generatedNames)[number];
type Secrets = Record<GeneratedName, string>;

/**
 * Generated before the database exists, stored in DATA_DIR/secrets.json, readable by its owner only. Environment
 * variables take precedence. Throws ConfigError if there is a database but no secrets: new ones could not decrypt what
 * the database stores.
 */
export function generatedSecrets(
  { dataDir, cluster }: { dataDir: string; cluster: string },
  given: Partial<Record<GeneratedName, string | undefined>>,
): Secrets {
  const file = join(dataDir, 'secrets.json');
  const hasData = existsSync(cluster); // checked first: another process creates the file before the database
  const isNeeded = generatedNames.some((name) => given[name] === undefined);
  if (isNeeded && !existsSync(file)) {
    if (hasData)
      throw new ConfigError(
        `${file} is missing, but ${cluster} has data encrypted with its SECRETS_KEY. No new secrets were generated. Restore the file from a backup; if there is none, see docs/runbook.md`,
      );
    generateSecrets(file);
  }
  const stored = isNeeded ? readObject(file) : {};
  const secrets = Object.fromEntries(generatedNames.map((name) => [name, given[name] ?? stored[name]]));
  const missing = generatedNames.filter((name) => typeof secrets[name] !== 'string' || secrets[name] === '');
  if (missing.length > 0)
    throw new ConfigError(
      `${file} holds no ${missing.join(' and no ')}. Restore the file from a backup; if there is none, see docs/runbook.md`,
    );
  return secrets as Secrets;
}

/** A link never replaces a file: the first of several processes wins, and an interrupted start leaves no partial file. */
function generateSecrets(file: string): void {
  const generated = Object.fromEntries(
    generatedNames.map((name) => [name, randomBytes(32).toString('base64url')]),
  );
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, JSON.stringify(generated, null, 2), { mode: 0o600, flush: true });
  try {
    linkSync(unfinished, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

function readObject(file: string): Record<string, unknown> {
  const text = readFileSync(file, 'utf8');
  try {
    return (JSON.parse(text) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}
