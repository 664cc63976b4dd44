import type { Division } from './divide.js';

/** The one factor that all durations of rules and boards are divided by, so that a scene takes a minute or two. */
export const division: Division = {
  factor: 30,
  leastWindow: 4,
  // The service runs at its own pace. Its figures are read every 15 s, a canary goes every 10 s, and a task without work
  // runs once a minute.
  leastAge: (metric) =>
    metric.includes('canary')
      ? 12
      : metric.includes('task_succeeded')
        ? 90
        : metric.includes('process_start')
          ? 4
          : 20,
};
