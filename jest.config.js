import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** Real engines are started once (test/run.ts); every test file gets its own databases and queue prefixes. */
const root = import.meta.dirname;
const files = readdirSync(path.join(root, 'test'), { recursive: true })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => `<rootDir>/test/${file.replaceAll('\\', '/')}`);

/** Made of `describe.each(backends)` alone: such a file runs once for each backend, side by side. */
const isPerBackend = (file) => {
  const source = readFileSync(file.replace('<rootDir>', root), 'utf8');
  const blocks = source.match(/^(describe|test|\().*/gm) ?? [];
  return blocks.length > 0 && blocks.every((block) => block.startsWith('describe.each(backends)('));
};
const perBackend = files.filter(isPerBackend);
const backends = process.env.TEST_REDIS_URL ? ['postgres', 'redis'] : ['postgres'];

const project = {
  rootDir: root,
  cacheDirectory: path.join(root, 'node_modules/.cache/jest'), // kept from run to run: not below TMPDIR
  roots: ['<rootDir>/src', '<rootDir>/test'],
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
};

export default {
  projects: [
    {
      ...project,
      displayName: 'any queue',
      testMatch: files.filter((file) => !perBackend.includes(file)),
    },
    ...backends.map((queueBackend) => ({
      ...project,
      displayName: `queue on ${queueBackend}`,
      globals: { queueBackend },
      testMatch: perBackend,
    })),
  ],
  testSequencer: '<rootDir>/test/sequencer.js',
  testTimeout: 60_000, // real engines on a busy machine
  forceExit: true, // sockets that receivers keep alive would hold the process
};
