import * as z from 'zod';

const unitBytes: Record<string, number> = {
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};
const minBytes = unitBytes.MiB!;
const maxBytes = 1_000 * unitBytes.TiB!;

/** Takes `500GiB`, `1.5TB`, `800MB`; null for any other form. */
export function parseByteCount(text: string): number | null {
  const match = /^(\d{1,6}(?:\.\d{1,3})?)([MGT]i?B)$/.exec(text.trim());
  return match ? Math.round(Number(match[1]) * unitBytes[match[2]!]!) : null;
}

/** At least 1MiB; the parsed value is in bytes. */
export const byteCount = z.string().transform((text, context) => {
  const bytes = parseByteCount(text);
  if (bytes !== null && bytes >= minBytes && bytes <= maxBytes) return bytes;
  context.addIssue(
    'must be a size from 1MiB to 1000TiB: a number and MB, GB, TB, MiB, GiB or TiB, such as 500GiB',
  );
  return z.NEVER;
});
