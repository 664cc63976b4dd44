import * as z from 'zod';

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Takes `500ms`, `15s`, `5m`, `2h`, `1d`; null for any other form. */
export function parseDurationMs(text: string): number | null {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text.trim());
  return match ? Number(match[1]) * unitMs[match[2] as keyof typeof unitMs] : null;
}

function inUnits(durationMs: number): string {
  const units = Object.entries(unitMs).reverse();
  const [unit, ms] = units.find(([, ms]) => durationMs > 0 && durationMs % ms === 0) ?? ['ms', 1];
  return `${durationMs / ms}${unit}`;
}

/** The parsed value is in milliseconds. */
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
