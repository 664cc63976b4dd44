import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../platform/errors.js';

const names = ['TOKEN_SECRET', 'SECRETS_KEY', 'OPERATOR_TOKEN'] as const;
type Secrets = Record<(typeof names)[number], string>;

/**
 * The secrets of embedded mode: made before the database is, and kept in DATA_DIR/secrets.json for its owner only.
 * Variables of the environment take precedence. Throws ConfigError if there is a database but no secrets: new ones
 * would not open what the database keeps sealed.
 */
export function generatedSecrets(
  { dataDir, cluster }: { dataDir: string; cluster: string },
  given: Partial<Record<keyof Secrets, string | undefined>>,
): Secrets {
  const file = join(dataDir, 'secrets.json');
  const hasData = existsSync(cluster); // looked at first: another process makes the file before the database
  const isNeeded = names.some((name) => given[name] === undefined);
  if (isNeeded && !existsSync(file)) {
    if (hasData)
      throw new ConfigError(
        `${file} is missing, but ${cluster} has data that was sealed with its SECRETS_KEY. Nothing was made anew. Restore that file from a copy; what to do if there is none: docs/runbook.md`,
      );
    makeSecrets(file);
  }
  const kept = isNeeded ? readObject(file) : {};
  const secrets = Object.fromEntries(names.map((name) => [name, given[name] ?? kept[name]]));
  const missing = names.filter((name) => typeof secrets[name] !== 'string' || secrets[name] === '');
  if (missing.length > 0)
    throw new ConfigError(
      `${file} holds no ${missing.join(' and no ')}. Restore that file from a copy; what to do if there is none: docs/runbook.md`,
    );
  return secrets as Secrets;
}

/**
 * A link never replaces a file: of several processes the first one decides, and an interrupted start leaves no partial
 * file.
 */
function makeSecrets(file: string): void {
  const made = Object.fromEntries(names.map((name) => [name, randomBytes(32).toString('base64url')]));
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, JSON.stringify(made, null, 2), { mode: 0o600, flush: true });
  try {
    linkSync(unfinished, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
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
