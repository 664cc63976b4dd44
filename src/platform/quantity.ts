import * as z from 'zod';

/** A longer text is no quantity, and takes long to trim. */
const maxLength = 100;
const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export function parseDurationMs(text: string): number | null {
  if (text.length > maxLength) return null;
  if (text.trim() === '0') return 0;
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text.trim());
  return match ? Number(match[1]) * unitMs[match[2] as keyof typeof unitMs] : null;
}

function inUnits(durationMs: number): string {
  const units = Object.entries(unitMs).reverse();
  const [unit, ms] = units.find(([, ms]) => durationMs > 0 && durationMs % ms === 0) ?? ['ms', 1];
  return `${durationMs / ms}${unit}`;
}

export function duration(bounds: { minMs: number; maxMs: number }) {
  return z.string().transform((text, context) => {
    const ms = parseDurationMs(text);
    if (ms !== null && ms >= bounds.minMs && ms <= bounds.maxMs) return ms;
    context.addIssue(
      `must be a duration from ${inUnits(bounds.minMs)} to ${inUnits(bounds.maxMs)}: a whole number and ms, s, m, h or d, such as 500ms`,
    );
    return z.NEVER;
  });
}

const unitBytes: Record<string, number> = {
  B: 1,
  kB: 1e3,
  KB: 1e3,
  KiB: 2 ** 10,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

export function parseByteCount(text: string): number | null {
  if (text.length > maxLength) return null;
  const match = /^(\d{1,6}(?:\.\d{1,3})?)([kKMGT]i?B|B)$/.exec(text.trim());
  return match ? Math.round(Number(match[1]) * unitBytes[match[2]!]!) : null;
}

/** `mayBeOff`: 0 is taken as well. */
export const byteCount = (min: string, max: string, mayBeOff = false) =>
  z.string().transform((text, context) => {
    if (mayBeOff && text.trim() === '0') return 0;
    const bytes = parseByteCount(text);
    if (bytes !== null && bytes >= parseByteCount(min)! && bytes <= parseByteCount(max)!) return bytes;
    context.addIssue(
      `must be a size from ${min} to ${max}: a number and KiB, MB, GB, TB, MiB, GiB or TiB, such as 500GiB`,
    );
    return z.NEVER;
  });
