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

/** A text as what `read` makes of it; if that is null, the issue is `problem`. */
export const readAs = <Value>(read: (text: string) => Value | null, problem: string) =>
  z.string().transform((text, context) => {
    const value = read(text);
    if (value !== null) return value;
    context.addIssue(problem);
    return z.NEVER;
  });

/** The entries separated by commas; null if one of them is. */
export function readList<Value>(text: string, read: (entry: string) => Value | null): Value[] | null {
  const list = text.split(',').map((entry) => read(entry.trim()));
  return list.every((value) => value !== null) ? list : null;
}

export const listOf = <Value>(read: (entry: string) => Value | null, problem: string) =>
  readAs((text) => readList(text, read), problem);

export const duration = ({ minMs, maxMs }: { minMs: number; maxMs: number }) =>
  readAs(
    (text) => {
      const ms = parseDurationMs(text);
      return ms !== null && ms >= minMs && ms <= maxMs ? ms : null;
    },
    `must be a duration from ${inUnits(minMs)} to ${inUnits(maxMs)}: a whole number and ms, s, m, h or d, such as 500ms`,
  );

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
  readAs((text) => {
    if (mayBeOff && text.trim() === '0') return 0;
    const bytes = parseByteCount(text);
    return bytes !== null && bytes >= parseByteCount(min)! && bytes <= parseByteCount(max)! ? bytes : null;
  }, `must be a size from ${min} to ${max}: a number and KiB, MB, GB, TB, MiB, GiB or TiB, such as 500GiB`);
