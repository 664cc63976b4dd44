import tseslint from 'typescript-eslint';
import { house } from './eslint.house.js';

/** Features in the order of the flow: each may import only those after it (design: downstream, no cycles). */
const flow = [
  'operator',
  'observe',
  'shipments',
  'feed',
  'catch-up',
  'history',
  'inbox',
  'webhooks',
  'accounts',
  'mail',
  'http',
  'engine',
  'platform',
];

/** Programs of their own, which speak HTTP to the service: what else each may import of `src`. */
const programs = {
  cli: ['platform/version', 'client/index', 'client/listen/text'],
  client: [],
};

const door = {
  regex: '^(\\.\\./)+engine/(?!engine\\.js$)',
  message: 'The engine is known by its door, engine.ts.',
};

const restricted = (folder, patterns) => ({
  files: [`src/${folder}/**/*.ts`],
  rules: { 'no-restricted-imports': ['error', { patterns }] },
});

const downstreamOnly = flow.map((feature, position) =>
  restricted(feature, [
    { regex: '^(\\.\\./)+(roles/|main\\.js$)', message: 'Only roles compose the application.' },
    ...[...Object.keys(programs), ...flow.slice(0, position)].map((upstream) => ({
      regex: `^(\\.\\./)+${upstream}/`,
      message: `${feature} lies downstream of ${upstream} and must not know it.`,
    })),
    door,
  ]),
);

const apart = Object.entries(programs).flatMap(([program, needed]) =>
  ['', '/*'].map((room, depth) => ({
    files: [`src/${program}${room}/*.ts`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: `^${'\\.\\./'.repeat(depth + 1)}(?!(?:${needed.join('|')})\\.js$)`,
              message: `Of the service, ${program} knows ${needed.join(' and ') || 'nothing'}.`,
            },
            ...(program === 'client'
              ? [{ regex: '^(?!node:|\\.)', message: 'Its package has no dependencies.' }]
              : []),
          ],
        },
      ],
    },
  })),
);

export default tseslint.config(
  {
    ignores: [
      'dist/**',
      'dist.*/**',
      'data/**',
      'node_modules/**',
      'src/client/api/generated.ts',
      // Programs with packages and types of their own, which the generators bring.
      'test/programs/generators/clients/**',
    ],
  },
  // The rules that need types run in oxlint (.oxlintrc.json), in a tenth of the time.
  { files: ['**/*.ts', '**/*.tsx'], extends: [...tseslint.configs.recommended] },
  {
    files: ['src/**/*.ts', 'src/**/*.tsx', 'test/**/*.ts', 'grafana/**/*.ts'],
    plugins: { house },
    rules: {
      'house/words': 'error',
      'house/sentences': 'error',
      'house/sizes': 'error',
      'house/long-files': 'warn',
      'max-lines': ['error', { max: 400 }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  // Tests look into answers as they came; what is wrong with them is what they are there to find.
  { files: ['test/**/*.ts'], rules: { '@typescript-eslint/no-explicit-any': 'off' } },
  ...downstreamOnly,
  ...['roles', 'config'].map((folder) => restricted(folder, [door])),
  ...apart,
);
