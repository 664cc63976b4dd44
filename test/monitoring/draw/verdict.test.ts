import { describe, expect, test } from '@jest/globals';
import type { Answered } from '../../programs/draw/boards/ask.js';
import { createMovement, unexplained } from '../../programs/draw/movement.js';
import { isComplete, latest, problemsOf } from '../../programs/draw/verdict.js';
import { createTold, toldAfterSeconds } from '../../programs/draw/watch.js';

const alert = (alertname: string, severity = 'page') => ({ alertname, environment: 'production', severity });
const expected = {
  production: { told: { Late: 30 }, mayBeTold: { Slow: 'it follows' }, red: 'ours' as const },
};
const asIs = { production: { red: 'ours' as const, panels: ['p99'] } };

describe('what is told', () => {
  test('an alert counts from when it began, once nothing has kept it quiet for a while', () => {
    const { told, look } = createTold();
    look([alert('Late')], 3);
    look([], 5); // kept quiet by its cause
    look([alert('Late'), alert('Watchdog', 'none')], 6);
    look([alert('Late')], 5.5 + toldAfterSeconds);
    expect(told.size).toBe(0);
    look([alert('Late')], 6 + toldAfterSeconds);
    expect([...told]).toEqual([['production Late', 6]]);
  });

  test('all is well where everything is told in time, and nothing else', () => {
    const told = new Map([
      ['production Late', 12],
      ['production Slow', 14],
    ]);
    expect(problemsOf(expected, told, asIs)).toEqual([]);
    expect(isComplete(expected, told)).toBe(true);
    expect(latest(expected)).toBe(30);
  });

  test.each([
    ['nothing is told', new Map<string, number>(), /Late is not told/],
    ['it is told late', new Map([['production Late', 31]]), /not within 30 s/],
    [
      'something else is told',
      new Map([
        ['production Late', 1],
        ['production Gone', 2],
      ]),
      /Gone .* is not to be/,
    ],
    [
      'it is told of another environment',
      new Map([['development Late', 1]]),
      /development Late .* is not to be/,
    ],
  ])('it is wrong where %s', (_, told, problem) => {
    expect(problemsOf(expected, told, asIs).join('\n')).toMatch(problem);
  });

  test('it is wrong where the other half is red, or none', () => {
    const told = new Map([['production Late', 1]]);
    for (const red of ['theirs', 'both', 'none'] as const)
      expect(problemsOf(expected, told, { production: { red, panels: ['Failing'] } })).toHaveLength(1);
  });
});

describe('panels that move', () => {
  const answered = (title: string, ...values: (number | null)[]) =>
    ({ panel: { title }, lines: [{ name: 'a', values }], table: null }) as unknown as Answered;

  test('one that changes within a scene or between scenes moves; one that never has figures does not', () => {
    const movement = createMovement();
    movement.note('overview', [
      answered('Changes', 1, 2),
      answered('Between', 1, 1),
      answered('Still', 0, 0),
      answered('Empty', null),
    ]);
    movement.note('overview', [
      answered('Changes', 1, 1),
      answered('Between', 2, 2),
      answered('Still', 0, 0),
      answered('Empty', null),
    ]);
    expect(movement.still()).toEqual([
      { panel: 'overview › Still', hadFigures: true },
      { panel: 'overview › Empty', hadFigures: false },
    ]);
    expect(unexplained(movement.still(), [[/Still/, 'nothing is erased']])).toEqual(['overview › Empty']);
  });
});
