/** The exports of `@jest/globals`, evaluated for each test file (hooks.js), since each has its own. */
export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } =
  globalThis[Symbol.for('parcelhook.jest')];
