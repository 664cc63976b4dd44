const secondMs = 1_000;
const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Measured time: `212 ms`, `15 s`, `1.4 s`. */
export function durationText(ms: number): string {
  if (ms < secondMs) return `${Math.round(ms)} ms`;
  if (ms < 10 * secondMs) return `${Number((ms / secondMs).toFixed(1))} s`;
  return waitText(ms);
}

/** Time to wait, in its largest unit, and the next one where that is small: `40 s`, `4 min`, `2 h 5 min`, `3 d 4 h`. */
export function waitText(ms: number): string {
  const units: [number, string][] = [
    [dayMs, 'd'],
    [hourMs, 'h'],
    [minuteMs, 'min'],
  ];
  for (const [at, [unitMs, unit]] of units.entries()) {
    if (ms < unitMs) continue;
    const whole = Math.floor(ms / unitMs);
    const below = units[at + 1];
    const rest = below && whole < 10 ? Math.floor((ms % unitMs) / below[0]) : 0;
    return below && rest > 0 ? `${whole} ${unit} ${rest} ${below[1]}` : `${whole} ${unit}`;
  }
  return `${Math.max(1, Math.round(ms / secondMs))} s`;
}

export const countText = (count: number, one: string, many: string) =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

/** Says "4 min ago" or "in 30 s", or "now" within a second and a half. Both times are in ms. */
export function relative(moment: number, from: number): string {
  const distance = Math.abs(moment - from);
  if (distance < 1_500) return 'now';
  return moment > from ? `in ${waitText(distance)}` : `${waitText(distance)} ago`;
}
