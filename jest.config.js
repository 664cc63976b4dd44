/** Real engines are started once (test/run.ts); a tier of tests is a folder. */
import path from 'node:path';

const root = import.meta.dirname;

export default {
  rootDir: root,
  cacheDirectory: path.join(root, 'node_modules/.cache/jest'), // kept from run to run: not below TMPDIR
  roots: ['<rootDir>/test'],
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/test/programs/.*/package.json'],
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  setupFiles: ['<rootDir>/test/support/setup.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript' },
          experimental: { keepImportAttributes: true },
        },
        module: { type: 'es6' },
      },
    ],
  },
  testSequencer: '<rootDir>/test/sequencer.js',
  testTimeout: 60_000, // real engines on a busy machine
  forceExit: true, // sockets that receivers keep alive would hold the process
};
