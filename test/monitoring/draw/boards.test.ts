import { describe, expect, test } from '@jest/globals';
import { ask, type Sources } from '../../programs/draw/boards/ask.js';
import { readBoards, boardOf, type FieldConfig } from '../../programs/draw/boards/board.js';
import { undrawableOf } from '../../programs/draw/boards/drawable.js';
import { sheetOf } from '../../programs/draw/boards/sheet-of.js';
import { formatted } from '../../programs/draw/boards/units.js';
import { configOf, shown } from '../../programs/draw/boards/values.js';
import { choicesOf } from '../../programs/draw/boards/variables.js';
import { firstRowsOf, halfOf, redOf, redPanels } from '../../programs/draw/halves.js';
import { inRepository } from '../../programs/draw/paths.js';

const division = { factor: 30, leastWindow: 4, leastAge: () => 20 };
const span = { from: 1_000, to: 1_010, step: 1 };
const green = { value: null, color: 'green' };
const thresholds = { mode: 'absolute', steps: [green, { value: 5, color: 'red' }] };

const panel = (fields: object) => ({
  id: 1,
  type: 'timeseries',
  title: 'Panel',
  gridPos: { x: 0, y: 1, w: 8, h: 8 },
  targets: [{ refId: 'A', expr: 'up', legendFormat: '{{job}}' }],
  ...fields,
});
const board = (...panels: object[]) =>
  boardOf('overview', {
    title: 'Overview',
    panels: [{ type: 'row', title: 'Ours: do we?', gridPos: { y: 0 } }, ...panels],
    templating: {
      list: [
        { type: 'query', name: 'environment', query: 'label_values(up, environment)' },
        {
          type: 'query',
          name: 'job',
          query: 'label_values(up{environment="$environment"}, job)',
          includeAll: true,
          multi: true,
        },
      ],
    },
  });

function answering(series: [labels: Record<string, string>, values: [number, number][]][]) {
  const queries: string[] = [];
  const answer = (query: string) => {
    queries.push(query);
    return Promise.resolve(series.map(([labels, values]) => ({ labels, values })));
  };
  const sources: Sources = {
    prometheus: { range: answer, instant: answer },
    sql: (text) => {
      queries.push(text);
      return Promise.resolve([{ Shipper: "it's", Owed: 3 }]);
    },
  };
  return { sources, queries };
}
const labelValues = (label: string) =>
  Promise.resolve(label === 'job' ? ['api', 'worker'] : ['development', 'production']);
const chosen = (of: ReturnType<typeof board>) => choicesOf(of, labelValues, { environment: 'production' });

describe('values', () => {
  test.each<[number, FieldConfig, string]>([
    [0.0042, { unit: 's' }, '4.2 ms'],
    [90, { unit: 's' }, '90 s'],
    [7_200, { unit: 's' }, '2 hours'],
    [0.1234, { unit: 'percentunit' }, '12.3%'],
    [1_536, { unit: 'bytes' }, '1.5 KiB'],
    [12_345, { unit: 'ops' }, '12.3 K ops/s'],
    [0, { unit: 's' }, '0 s'],
    [3, { unit: 'suffix: of 4' }, '3 of 4'],
  ])('%d is written with its unit: %j', (value, config, text) => {
    expect(formatted(value, config)).toBe(text);
  });

  test('a figure has the colour of the last threshold it has reached', () => {
    expect(shown(4.9, { thresholds }).color).toBe('green');
    expect(shown(5, { thresholds }).color).toBe('red');
  });

  test('a missing value is named, in the colour of its mapping, else in that below every threshold', () => {
    expect(shown(null, { thresholds })).toEqual({ text: 'No data', color: 'green' });
    const mappings = [
      { type: 'special' as const, options: { match: 'null+nan', result: { text: 'absent', color: 'red' } } },
    ];
    expect(shown(NaN, { thresholds, mappings })).toEqual({ text: 'absent', color: 'red' });
  });

  test('overrides count for the series they name, and for no other', () => {
    const overrides = [
      { matcher: { id: 'byName', options: 'p99' }, properties: [{ id: 'custom.lineWidth', value: 3 }] },
    ];
    const field = { defaults: { unit: 's' }, overrides };
    expect(configOf('p99', 'A', field)).toEqual({ unit: 's', custom: { lineWidth: 3 } });
    expect(configOf('p50', 'A', field)).toEqual({ unit: 's' });
  });
});

describe('queries', () => {
  test('variables, intervals and divided windows stand in them', async () => {
    const of = board(
      panel({
        targets: [
          {
            refId: 'A',
            expr: 'rate(x{environment="$environment",job=~"${job:regex}"}[$__rate_interval]) + rate(y[1h])',
          },
        ],
      }),
    );
    const { sources, queries } = answering([]);
    await ask(of, await chosen(of), sources, span, division);
    expect(queries).toEqual(['rate(x{environment="production",job=~"(api|worker)"}[4s]) + rate(y[120s])']);
  });

  test('SQL gets quoted values, and its rows become a table', async () => {
    const of = board(
      panel({ type: 'table', targets: [{ refId: 'A', rawSql: 'select * from x where e = $environment' }] }),
    );
    const { sources, queries } = answering([]);
    const [answered] = await ask(of, await chosen(of), sources, span, division);
    expect(queries).toEqual(["select * from x where e = 'production'"]);
    expect(answered!.table).toEqual({ columns: ['Shipper', 'Owed'], rows: [["it's", 3]] });
  });

  test('what is wrong with a query is said in its panel', async () => {
    const of = board(panel({}));
    const broken = () => Promise.reject(new Error('parse error'));
    const sources = { prometheus: { range: broken, instant: broken }, sql: broken };
    const answered = await ask(of, await chosen(of), sources, span, division);
    expect(answered[0]!.errors.map(({ message }) => message)).toEqual(['A: parse error']);
    expect(sheetOf(of, answered, { subtitle: '', caption: '', marks: [] }).panels[0]!.absent).toContain(
      'parse error',
    );
  });
});

describe('the first row', () => {
  const stat = (title: string, fields: object = {}) =>
    panel({ type: 'stat', title, options: {}, fieldConfig: { defaults: { thresholds } }, ...fields });

  test('is red on the side whose figures are', async () => {
    const of = board(
      stat('Late', {}),
      {
        type: 'row',
        title: 'Theirs: who?',
        gridPos: { y: 6 },
      },
      stat('Failing'),
    );
    const redOn = async (values: [number, number][]) => {
      const { sources } = answering([[{}, values]]);
      return redPanels(await ask(of, await chosen(of), sources, span, division));
    };
    expect(await redOn([[1_010, 1]])).toEqual({ ours: [], theirs: [] });
    const red = await redOn([[1_010, 9]]);
    expect(red).toEqual({ ours: ['Late'], theirs: ['Failing'] });
    expect([redOf(red), redOf({ ...red, ours: [] }), redOf({ ours: [], theirs: [] })]).toEqual([
      'both',
      'theirs',
      'none',
    ]);
  });

  test('has no half for the count of alerts, nor for what stands below', () => {
    const { panels } = board(
      stat('Alerts', { targets: [{ refId: 'A', expr: 'count(ALERTS)' }] }),
      panel({ title: 'Below' }),
    );
    const rows = firstRowsOf(panels);
    expect(panels.map((one) => halfOf(one, rows))).toEqual([null, null]);
  });
});

test('every panel of the shipped boards can be drawn', () => {
  const boards = readBoards(inRepository('grafana/dashboards'));
  expect(boards.flatMap(undrawableOf)).toEqual([]);
  expect(boards.flatMap(({ panels }) => panels).length).toBeGreaterThan(40);
});
