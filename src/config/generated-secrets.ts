import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const names = ['TOKEN_SECRET', 'SECRETS_KEY', 'OPERATOR_TOKEN'] as const;
type Secrets = Record<(typeof names)[number], string>;

/**
 * The secrets of embedded mode: made on the first start, kept in DATA_DIR/secrets.json for its owner only. What
 * the environment sets comes first.
 */
export function generatedSecrets(
  dataDir: string,
  given: Partial<Record<keyof Secrets, string | undefined>>,
): Secrets {
  const file = join(dataDir, 'secrets.json');
  if (!existsSync(file)) {
    mkdirSync(dataDir, { recursive: true });
    const made = Object.fromEntries(names.map((name) => [name, randomBytes(32).toString('base64url')]));
    // Renamed into place, so that a start cut short leaves no half file.
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, JSON.stringify(made, null, 2), { mode: 0o600 });
    renameSync(unfinished, file);
  }
  const kept = JSON.parse(readFileSync(file, 'utf8')) as Secrets;
  return Object.fromEntries(names.map((name) => [name, given[name] ?? kept[name]])) as Secrets;
}
