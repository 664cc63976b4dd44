import type { Board, Variable } from './board.js';

export interface Choice {
  values: string[];
  isAll: boolean;
}

export type Choices = Record<string, { variable: Variable; choice: Choice }>;

/** `label_values(metric, label)`. */
export type LabelValues = (label: string, selector: string | null) => Promise<string[]>;

/** Chooses as `chosen` says, else all values where the board has `All`, else the first. */
export async function choicesOf(
  { variables }: Board,
  labelValues: LabelValues,
  chosen: Record<string, string>,
): Promise<Choices> {
  const choices: Choices = {};
  for (const variable of variables) {
    const all = await valuesOf(variable, labelValues, choices);
    const one = chosen[variable.name];
    const isAll = one === undefined && Boolean(variable.includeAll);
    choices[variable.name] = {
      variable,
      choice: { isAll, values: isAll ? all : [one ?? all[0] ?? ''] },
    };
  }
  return choices;
}

async function valuesOf(variable: Variable, labelValues: LabelValues, choices: Choices): Promise<string[]> {
  const query = String(
    typeof variable.query === 'object' ? (variable.query?.query ?? '') : (variable.query ?? ''),
  );
  if (variable.type === 'datasource') return [variable.name];
  if (variable.type === 'custom') return query.split(',').map((value) => value.trim().split(' : ').at(-1)!);
  if (variable.type !== 'query') return [query];
  const [, selector, label] = /^label_values\((?:([^]+),)?\s*(\w+)\)$/.exec(query.trim()) ?? [];
  if (!label) throw new Error(`the variable ${variable.name} asks what is not known here: ${query}`);
  return labelValues(label, selector ? interpolate(selector, choices) : null);
}

const escaped = (value: string) => value.replace(/[\\^$.*+?()[\]{}|]/g, '\\\\$&');

/** Interpolates as Grafana's Prometheus data source does. */
export function interpolate(text: string, choices: Choices): string {
  return text.replace(/\$\{(\w+)(?::\w+)?\}|\$(\w+)|\[\[(\w+)\]\]/g, (whole, braced, plain, squared) => {
    const found = choices[(braced ?? plain ?? squared) as string];
    if (!found) return whole;
    const { variable, choice } = found;
    if (choice.isAll && variable.allValue) return variable.allValue;
    if (!variable.multi && !variable.includeAll) return choice.values[0] ?? '';
    const values = choice.values.map(escaped);
    return values.length === 1 ? values[0]! : `(${values.join('|')})`;
  });
}

/** Values are quoted, separated by commas. */
export const interpolateSql = (text: string, choices: Choices): string =>
  text.replace(/'?(?:\$\{(\w+)(?::\w+)?\}|\$(\w+)|\[\[(\w+)\]\])'?/g, (whole, braced, plain, squared) => {
    const found = choices[(braced ?? plain ?? squared) as string];
    if (!found) return whole;
    return found.choice.values.map((value) => `'${value.replaceAll("'", "''")}'`).join(', ');
  });

/** `environment production, job All`. */
export const inWords = (choices: Choices): string =>
  Object.values(choices)
    .filter(({ variable }) => variable.type !== 'datasource')
    .map(
      ({ variable, choice }) =>
        `${variable.label ?? variable.name}: ${choice.isAll ? 'All' : choice.values.join(', ')}`,
    )
    .join('   ');
