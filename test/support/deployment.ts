import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request, type Account } from './client.js';
import { operatorToken } from './process.js';

export const deployment = (
  databaseUrl: string,
  env: Record<string, string> = {},
): Record<string, string> => ({
  DATABASE_URL: databaseUrl,
  QUEUE_PREFIX: `t_${randomBytes(6).toString('hex')}`,
  TOKEN_SECRET: randomBytes(32).toString('hex'),
  SECRETS_KEY: randomBytes(32).toString('hex'),
  OPERATOR_TOKEN: operatorToken,
  ALLOW_PRIVATE_TARGETS: 'true',
  ALLOW_HTTP_TARGETS: 'true',
  PORT: '0',
  WEBHOOK_CREATION_LIMIT: '0',
  BY_HAND_LIMIT: '0',
  ...env,
});

export interface Folder {
  path: string;
  remove(): void;
}

export function newFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'parcelhook-flow-'));
  return {
    path,
    remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }),
  };
}

export const accountAt = (account: Account, { url }: { url: string }): Account => ({
  ...account,
  call: (path, options = {}) =>
    request(`${url}${path}${path.includes('?') ? '&' : '?'}key=${account.accountKey}`, {
      ...options,
      headers: { authorization: `Bearer ${account.token}`, ...options.headers },
    }),
});

export const crashTraces = (output: string): string[] =>
  output.split('\n').filter((line) => /unhandled|uncaught|unexpected error|FATAL ERROR/i.test(line));
