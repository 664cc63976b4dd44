import type { Board } from './board.js';
import { drawnTransformations } from './tables.js';
import { isKnownUnit } from './units.js';

const drawnTypes = ['timeseries', 'stat', 'gauge', 'bargauge', 'table', 'text', 'state-timeline'];

export function undrawableOf({ name, panels }: Board): string[] {
  return panels.flatMap(({ title, type, fieldConfig, transformations }) => {
    const { defaults, overrides } = fieldConfig;
    const units = [defaults.unit, ...overrides.flatMap(({ properties }) => properties).map(unitOf)];
    const wrong = [
      ...(drawnTypes.includes(type) ? [] : [`the panel type ${type}`]),
      ...units.filter((unit) => unit !== undefined && !isKnownUnit(unit)).map((unit) => `the unit ${unit}`),
      ...transformations
        .filter(({ id }) => !drawnTransformations.includes(id))
        .map(({ id }) => `the transformation ${id}`),
    ];
    return wrong.map((what) => `${name} › ${title}: ${what} is not drawn here`);
  });
}

const unitOf = ({ id, value }: { id: string; value: unknown }) => (id === 'unit' ? String(value) : undefined);
