/** Real engines are started once (test/run.ts); a tier of tests is a folder. */
import path from 'node:path';

const root = import.meta.dirname;

export default {
  rootDir: root,
  cacheDirectory: path.join(root, 'node_modules/.cache/jest'), // kept from run to run: not below TMPDIR
  roots: ['<rootDir>/test'],
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/test/programs/.*/package.json'],
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testEnvironment: '<rootDir>/test/support/jest/environment.cjs',
  setupFiles: ['<rootDir>/test/support/setup.ts'],
  // Modules are loaded by Node (test/support/jest), and most of them once for all files of a worker.
  transform: {},
  injectGlobals: false,
  runtime: '<rootDir>/test/support/jest/runtime.cjs',
  testSequencer: '<rootDir>/test/sequencer.js',
  testTimeout: 240_000, // real engines on a busy machine
  forceExit: true, // sockets that receivers keep alive would hold the process
};
