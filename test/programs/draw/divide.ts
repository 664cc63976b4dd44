import { parseDocument, visit, isScalar, type Document } from 'yaml';

/**
 * Rules that are as quick as a scene is short. Every duration is divided by one factor: `for`, `keep_firing_for`, windows,
 * steps, offsets, the forecast of `predict_linear`, and the ages that `_seconds` are compared with. Everything
 * else stays: latencies, counts, shares.
 */
export interface Division {
  factor: number;
  /** No window is shorter, in seconds: a rate needs samples. */
  leastWindow: number;
  /** No age of this metric is divided below so many seconds: it is that old where all is well. */
  leastAge(metric: string): number;
}

/** Smaller literals compared with `_seconds` are latencies, not ages. */
const shortestAgeSeconds = 10;

const secondsIn: Record<string, number> = {
  ms: 0.001,
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
  y: 31_536_000,
};

/** `1h30m` in seconds. */
export const secondsOf = (duration: string): number =>
  [...duration.matchAll(/(\d+)(ms|[smhdwy])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * secondsIn[unit!]!,
    0,
  );

const written = (seconds: number): string => {
  const ms = Math.round(seconds * 1_000);
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`;
};

/** Anchors and comments stay as they are. */
export function divideRules(yaml: string, division: Division): string {
  const document: Document = parseDocument(yaml);
  visit(document, {
    Pair: (_, pair) => {
      const key = isScalar(pair.key) ? pair.key.value : null;
      const { value } = pair;
      if (!isScalar(value)) return;
      if (key === 'for' || key === 'keep_firing_for')
        value.value = written(secondsOf(String(value.value)) / division.factor);
      if (key === 'interval')
        value.value = written(Math.max(1, secondsOf(String(value.value)) / division.factor));
      if (key === 'expr') value.value = divideExpr(String(value.value), division);
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** Strings and matchers are passed over; a duration, a number, a name or any other sign is a token. */
const tokens =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\{(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^}"'])*\}|(?:\d+(?:ms|[smhdwy]))+|\d+(?:\.\d+)?(?:e[+-]?\d+)?|\$?[a-zA-Z_][\w:]*|\s+|#.*|[<>=!]=|[^]/g;

const isDuration = (token: string) => /^(\d+(ms|[smhdwy]))+$/.test(token);
const isNumber = (token: string) => /^\d/.test(token) && !isDuration(token);
const isComparison = (token: string) => ['>', '<', '>=', '<='].includes(token);
const isAge = (metric: string) => /_seconds$/.test(metric) && !/quantile|lag/.test(metric);
const isMetric = (token: string) => /^[a-z]\w*_\w+$/.test(token) && /^(parcelhook|up)/.test(token);

export function divideExpr(expr: string, division: Division): string {
  const { factor, leastWindow, leastAge } = division;
  const list = expr.match(tokens) ?? [];
  const spoken = (from: number, step: 1 | -1): number => {
    let at = from + step;
    while (at >= 0 && at < list.length && /^\s/.test(list[at]!)) at += step;
    return at;
  };
  let metric = '';
  let isRate = false;
  const divided = list.map((token, at) => {
    if (/^(and|or|unless)$/.test(token)) isRate = false;
    if (/^(rate|increase|delta|histogram_quantile)$/.test(token)) isRate = true;
    if (isMetric(token)) metric = token;
    const before = list[spoken(at, -1)] ?? '';
    if (isDuration(token)) {
      const seconds = secondsOf(token) / factor;
      if (before === '[') return written(Math.max(leastWindow, seconds));
      return written(before === ':' ? Math.max(1, seconds) : seconds);
    }
    if (!isNumber(token) || !isComparison(before) || isRate || !isAge(metric)) return token;
    // `2 * 60` is one number: its first factor is divided.
    let seconds = Number(token);
    for (
      let next = spoken(at, 1);
      list[next] === '*' && isNumber(list[spoken(next, 1)] ?? '');
      next = spoken(spoken(next, 1), 1)
    )
      seconds *= Number(list[spoken(next, 1)]);
    if (seconds < shortestAgeSeconds) return token;
    return String(
      (Math.max(seconds / factor, Math.min(seconds, leastAge(metric))) * Number(token)) / seconds,
    );
  });
  return lookLessFarAhead(divided.join(''), factor);
}

/** The second argument of `predict_linear` is seconds; the first may have brackets of any depth. */
function lookLessFarAhead(expr: string, factor: number): string {
  const name = 'predict_linear(';
  let from = expr.indexOf(name);
  let result = expr;
  while (from >= 0) {
    let depth = 0;
    let comma = -1;
    let at = from + name.length;
    for (; depth >= 0 && at < result.length; at += 1) {
      if ('([{'.includes(result[at]!)) depth += 1;
      if (')]}'.includes(result[at]!)) depth -= 1;
      if (result[at] === ',' && depth === 0) comma = at;
    }
    if (comma < 0) return result;
    const ahead = result.slice(comma + 1, at - 1).trim();
    result = `${result.slice(0, comma)}, (${ahead}) / ${factor})${result.slice(at)}`;
    from = result.indexOf(name, comma);
  }
  return result;
}
