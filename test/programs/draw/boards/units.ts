import type { FieldConfig } from './board.js';

type Format = (value: number, decimals: number | undefined) => string;

/** Three digits that count, as far as the unit has any. */
function rounded(value: number, decimals: number | undefined): string {
  if (decimals !== undefined) return value.toFixed(decimals);
  const size = Math.abs(value);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return String(Number(value.toFixed(digits)));
}

/** Units by size, the largest first: from so much on, divided by so much, with this after it. */
const scaled =
  (...units: [from: number, one: number, after: string][]): Format =>
  (value, decimals) => {
    const size = Math.abs(value);
    const [, one, after] = units.find(([from]) => size >= from) ?? units.at(-1)!;
    return size === 0
      ? `0${units.find(([, each]) => each === 1)![2]}`
      : rounded(value / one, decimals) + after;
  };

const short = scaled(
  [1e12, 1e12, ' Tri'],
  [1e9, 1e9, ' Bil'],
  [1e6, 1e6, ' Mil'],
  [1e3, 1e3, ' K'],
  [0, 1, ''],
);
const seconds = scaled(
  [2 * 86_400, 86_400, ' days'],
  [2 * 3_600, 3_600, ' hours'],
  [120, 60, ' mins'],
  [1, 1, ' s'],
  [1e-3, 1e-3, ' ms'],
  [0, 1e-6, ' µs'],
);
const bytes = scaled(
  [2 ** 40, 2 ** 40, ' TiB'],
  [2 ** 30, 2 ** 30, ' GiB'],
  [2 ** 20, 2 ** 20, ' MiB'],
  [2 ** 10, 2 ** 10, ' KiB'],
  [0, 1, ' B'],
);
const per =
  (format: Format, after: string): Format =>
  (value, decimals) =>
    format(value, decimals) + after;
const times =
  (factor: number, format: Format): Format =>
  (value, decimals) =>
    format(value * factor, decimals);
const moment: Format = (ms) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

/** The ids of Grafana's units that boards may use. */
const formats: Record<string, Format> = {
  s: seconds,
  dtdurations: seconds,
  clocks: times(1e-3, seconds),
  ms: times(1e-3, seconds),
  d: times(86_400, seconds),
  percentunit: per(times(100, rounded), '%'),
  percent: per(rounded, '%'),
  bytes,
  decbytes: bytes,
  Bps: per(bytes, '/s'),
  binBps: per(bytes, '/s'),
  ops: per(short, ' ops/s'),
  reqps: per(short, ' req/s'),
  cps: per(short, ' c/s'),
  short,
  none: rounded,
  locale: rounded,
  dateTimeAsIso: moment,
  dateTimeAsSystem: moment,
};

/** `suffix:` and `prefix:` name a unit of their own. */
export const isKnownUnit = (unit: string): boolean => unit in formats || /^(suffix|prefix):/.test(unit);

export function formatted(value: number | string, { unit = 'short', decimals }: FieldConfig): string {
  if (typeof value !== 'number' || Number.isNaN(value)) return String(value);
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞';
  if (unit.startsWith('suffix:')) return rounded(value, decimals) + unit.slice(7);
  if (unit.startsWith('prefix:')) return unit.slice(7) + rounded(value, decimals);
  return (formats[unit] ?? short)(value, decimals);
}
