import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { OpenApiDocument } from '../../src/http/openapi/schemas.js';
import { registerAccount, sampleOrder } from '../support/client.js';
import { sharedService, type SharedService } from '../support/shared-service.js';
import { readTypes, typesOf } from './generate.js';
import { commonJs, edge, flow, typed } from './programs.js';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const installed = () => join(folder, 'node_modules/@parcelhook/client');

let folder: string;
let packed: string;
let service: SharedService;
let env: Record<string, string>;

const run = async (program: string, ...args: string[]) =>
  (await promisify(execFile)(program, args, { cwd: folder, env, timeout: 120_000 })).stdout;

async function runProgram(name: string, source: string): Promise<unknown> {
  writeFileSync(join(folder, name), source);
  return JSON.parse(await run(process.execPath, name));
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parcelhook-client-'));
  const base = { PATH: process.env.PATH ?? '', HOME: folder, npm_config_update_notifier: 'false' };
  env = base;
  writeFileSync(join(folder, 'package.json'), '{"private": true}');
  const quiet = ['--offline', '--no-audit', '--no-fund', '--loglevel=error'];
  const install = async () => {
    const [{ filename }] = JSON.parse(
      await run('npm', 'pack', resolve('dist/client'), '--json', ...quiet),
    ) as [{ filename: string }];
    packed = join(folder, filename);
    await run('npm', 'install', `./${filename}`, ...quiet);
  };
  [service] = await Promise.all([sharedService(), install()]);
  const account = await registerAccount(service);
  env = {
    ...base,
    PARCELHOOK_URL: service.url,
    PARCELHOOK_KEY: account.accountKey,
    PARCELHOOK_EMAIL: account.email,
    PARCELHOOK_PASSWORD: account.password,
    ORDER: JSON.stringify(sampleOrder()),
  };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.concurrent('its types match the API document; if not: npm run client-types', async () => {
  const response = await fetch(`${service.url}/openapi.json`);
  expect(await typesOf((await response.json()) as OpenApiDocument)).toBe(readTypes());
});

describe('the package, installed in an empty folder', () => {
  test('has the version of the service, its dependencies, and nothing else', () => {
    const manifest = JSON.parse(readFileSync(join(installed(), 'package.json'), 'utf8')) as object;
    expect(manifest).toMatchObject({
      name: '@parcelhook/client',
      version,
      engines: { node: '>=20.3' }, // AbortSignal.any
    });
    expect(manifest).not.toHaveProperty('dependencies');
    expect(readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      '@parcelhook',
    ]);
    for (const file of ['README.md', 'LICENSE', 'types/index.d.ts', 'types/index.d.cts'])
      expect(readFileSync(join(installed(), file), 'utf8')).not.toBe('');
  });

  test.concurrent('goes from an order to its verified notification, as an ES module', async () => {
    expect(await runProgram('flow.mjs', flow)).toEqual({
      same: true,
      processId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      states: ['CREATED'],
      refusal: 'NOT_FOUND',
    });
  });

  test.concurrent('works with require, too, with the same error classes', async () => {
    expect(await runProgram('by-require.cjs', commonJs)).toEqual({
      version,
      code: 'INVALID_REQUEST',
      details: ['limit'],
      one: true,
      kit: true,
      missing: ['NO_HEADERS', 'SECRET_MALFORMED', 'BODY_CONSUMED'],
    });
  });

  test.concurrent(
    'verifies, diagnoses and receives on edges and in browsers: without a module of Node',
    async () => {
      const bundle = await build({
        stdin: { contents: `export * from '@parcelhook/client/web'`, resolveDir: folder },
        ...{ bundle: true, platform: 'browser', format: 'esm', write: false },
      });
      const code = bundle.outputFiles[0]!.text;
      expect(code).not.toMatch(/\b(?:require|process|Buffer)\b\s*[.(]/);
      writeFileSync(join(folder, 'bundled.mjs'), code);
      expect(await runProgram('edge.mjs', edge)).toEqual({
        statuses: [204, 400],
        handled: ['CREATED'],
        ok: true,
      });
    },
  );

  test.concurrent('has a command, even as a single file', async () => {
    expect(await run('node_modules/.bin/parcelhook', '--version')).toContain(version);
    const elsewhere = mkdtempSync(join(tmpdir(), 'parcelhook-client-'));
    const file = `--package=./${basename(packed)}`;
    copyFileSync(packed, join(elsewhere, basename(packed)));
    const npx = ['npx', ['--offline', '--yes', file, 'parcelhook', '--version']] as const;
    const { stdout } = await promisify(execFile)(...npx, { cwd: elsewhere, env, timeout: 120_000 });
    rmSync(elsewhere, { recursive: true });
    expect(stdout).toContain(version);
  });

  test.concurrent(
    'types every method, in ES modules and CommonJS, and every example in its README',
    async () => {
      mkdirSync(join(folder, 'types'));
      symlinkSync(resolve('node_modules/@types'), join(folder, 'types/@types'));
      const files = {
        'typed.mts': typed,
        'typed.cts': typed,
        'package-readme.mts': examplesIn(join(installed(), 'README.md')).join('\n'), // they continue each other
      };
      for (const [name, source] of Object.entries(files)) writeFileSync(join(folder, name), source);
      const tsconfig = {
        compilerOptions: {
          ...{ strict: true, noEmit: true, module: 'nodenext', target: 'es2022', lib: ['es2023'] },
          ...{ types: ['node'], typeRoots: ['types/@types'], paths: { express: ['./types/@types/express'] } },
        },
        files: Object.keys(files),
      };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
      const compiler = resolve('node_modules/typescript7/bin/tsc');
      const problems = await run(process.execPath, compiler, '-p', '.').then(
        () => '',
        (error: { stdout: string }) => error.stdout,
      );
      expect(problems).toBe('');
    },
  );
});

function examplesIn(file: string): string[] {
  const blocks = [...readFileSync(file, 'utf8').matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(
    ([, code]) => code!,
  );
  expect(blocks.length).toBeGreaterThan(1);
  return blocks;
}
