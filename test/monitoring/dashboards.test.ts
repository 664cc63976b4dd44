import { describe, expect, test } from '@jest/globals';
import { dashboardFiles } from '../../grafana/src/dashboards.js';
import { dashboardTexts, panels } from './dashboards.js';

describe('dashboards', () => {
  test('the committed JSON is the output of `npm run dashboards`', () => {
    const generated = new Map(dashboardFiles.map(({ name, text }) => [name, text]));
    expect(new Map([...dashboardTexts()].sort())).toEqual(new Map([...generated].sort()));
  });

  test('every panel has a unit, a description and thresholds, and is in a row titled with a question', () => {
    const poor = panels().filter(
      ({ unit, description, hasThresholds, row }) =>
        !unit || !description || description.length < 15 || !hasThresholds || !row.endsWith('?'),
    );
    expect(poor).toEqual([]);
    expect(panels().length).toBeGreaterThan(40);
  });

  test('every query uses the data source selected on the dashboard', () => {
    const elsewhere = panels().filter(
      ({ queries }) =>
        queries.length === 0 || queries.some(({ datasource }) => datasource !== '${datasource}'),
    );
    expect(elsewhere).toEqual([]);
  });

  test('no two panels of a dashboard have the same title', () => {
    const titles = panels().map(({ dashboard, title }) => `${dashboard} › ${title}`);
    expect(titles).toEqual([...new Set(titles)]);
  });
});
