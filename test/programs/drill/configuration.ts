import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const shipped = fileURLToPath(new URL('../../../docs/high-availability', import.meta.url));

/**
 * Writes the shipped file with other addresses and paths, and nothing else changed. Throws if the file no longer has one
 * of those.
 */
export function write(file: string, to: string, replaced: [from: string, to: string][]): string {
  const text = replaced.reduce(
    (before, [from, value]) => {
      if (!before.includes(from)) throw new Error(`${file} has no ${from}`);
      return before.replaceAll(from, value);
    },
    readFileSync(join(shipped, file), 'utf8'),
  );
  writeFileSync(to, text, { mode: 0o644 });
  return to;
}
