import type { FieldConfig, Mapping, MappingResult, Override } from './board.js';
import { formatted } from './units.js';

/** The text is by unit and mappings, the colour by mappings and thresholds. */
export interface Shown {
  text: string;
  /** Grafana's name of a colour, or a colour of CSS. */
  color: string;
}

const noData = 'No data';

/** `null` is a value that is not there. Grafana colours it as it colours what lies below every threshold. */
export function shown(value: number | string | null, config: FieldConfig): Shown {
  const mapped = (config.mappings ?? []).map((mapping) => resultOf(mapping, value)).find(Boolean);
  const absent = value === null || (typeof value === 'number' && Number.isNaN(value));
  const text = mapped?.text ?? (absent ? (config.noValue ?? noData) : formatted(value, config));
  return { text, color: mapped?.color ?? colorOf(absent ? -Infinity : value, config) };
}

function resultOf(mapping: Mapping, value: number | string | null): MappingResult | undefined {
  if (mapping.type === 'value') return mapping.options[String(value)];
  if (mapping.type === 'regex')
    return value !== null &&
      new RegExp(mapping.options.pattern.replace(/^\/|\/\w*$/g, '')).test(String(value))
      ? mapping.options.result
      : undefined;
  const { result } = mapping.options;
  if (mapping.type === 'range') {
    const { from, to } = mapping.options;
    const number = value === null ? NaN : Number(value);
    return number >= (from ?? -Infinity) && number <= (to ?? Infinity) ? result : undefined;
  }
  const is: Record<string, boolean> = {
    null: value === null,
    nan: Number.isNaN(value),
    'null+nan': value === null || Number.isNaN(value),
    empty: value === '',
  };
  return is[mapping.options.match] ? result : undefined;
}

function colorOf(value: number | string, { color, thresholds }: FieldConfig): string {
  if (color?.mode === 'fixed') return color.fixedColor ?? 'text';
  const steps = thresholds?.steps ?? [{ value: null, color: 'green' }];
  const number = Number(value);
  return (
    steps.filter((step) => number >= (step.value ?? -Infinity)).at(-1)?.color ?? steps[0]?.color ?? 'text'
  );
}

export function configOf(
  name: string,
  refId: string,
  { defaults, overrides }: { defaults: FieldConfig; overrides: Override[] },
): FieldConfig {
  const config = structuredClone(defaults);
  for (const { matcher, properties } of overrides)
    if (isOf(matcher, name, refId)) for (const { id, value } of properties) set(config, id.split('.'), value);
  return config;
}

function isOf({ id, options }: Override['matcher'], name: string, refId: string): boolean {
  if (id === 'byName') return options === name;
  if (id === 'byFrameRefID') return options === refId;
  if (id === 'byRegexp') return new RegExp(String(options).replace(/^\/|\/\w*$/g, '')).test(name);
  return id === 'byType' && options === 'number';
}

function set(config: any, [first, ...rest]: string[], value: unknown): void {
  if (rest.length === 0) config[first!] = value;
  else set((config[first!] ??= {}), rest, value);
}

export function reduced(values: (number | null)[], calc = 'lastNotNull'): number | null {
  const there = values.filter((value): value is number => value !== null && !Number.isNaN(value));
  if (calc === 'last') return values.at(-1) ?? null;
  if (there.length === 0) return null;
  if (calc === 'max') return Math.max(...there);
  if (calc === 'min') return Math.min(...there);
  if (calc === 'sum') return there.reduce((sum, value) => sum + value, 0);
  if (calc === 'mean') return there.reduce((sum, value) => sum + value, 0) / there.length;
  if (calc === 'first' || calc === 'firstNotNull') return there[0]!;
  return there.at(-1)!;
}
