import { describe, expect, test } from '@jest/globals';
import { dashboardFiles } from '../../grafana/src/dashboards.js';
import { dashboardTexts, panels } from './support/dashboards.js';

describe('dashboards', () => {
  test('the committed JSON is what `npm run dashboards` writes', () => {
    const generated = new Map(dashboardFiles.map(({ name, text }) => [name, text]));
    expect(new Map([...dashboardTexts()].sort())).toEqual(new Map([...generated].sort()));
  });

  test('every panel has a unit, a description and thresholds, and stands in a row that asks a question', () => {
    const poor = panels().filter(
      ({ unit, description, hasThresholds, row }) =>
        !unit || !description || description.length < 15 || !hasThresholds || !row.endsWith('?'),
    );
    expect(poor).toEqual([]);
    expect(panels().length).toBeGreaterThan(40);
  });

  test('every query goes to the data source chosen on the dashboard', () => {
    const elsewhere = panels().filter(
      ({ queries }) =>
        queries.length === 0 || queries.some(({ datasource }) => datasource !== '${datasource}'),
    );
    expect(elsewhere).toEqual([]);
  });

  test('no two panels of a dashboard bear the same title', () => {
    const titles = panels().map(({ dashboard, title }) => `${dashboard} › ${title}`);
    expect(titles).toEqual([...new Set(titles)]);
  });
});
