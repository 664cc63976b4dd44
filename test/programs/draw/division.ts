import type { Division } from './divide.js';

/** The one factor that all durations of rules and boards are divided by, so that a scene takes a minute or two. */
export const division: Division = {
  factor: 30,
  leastWindow: 4,
  // The service runs at its own pace. Its figures are read every 15 s, and a canary goes every 10 s.
  leastAge: (metric) => (metric.includes('canary') ? 12 : 20),
};
