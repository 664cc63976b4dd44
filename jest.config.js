/** Real engines are started once (globalSetup); every test file gets its own database and queue prefix. */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  testTimeout: 60_000, // real engines on a busy machine
  maxWorkers: 2,
  forceExit: true, // sockets that receivers keep alive would hold the process
};
