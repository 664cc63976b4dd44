import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { newAccountKey, newLinkToken } from '../../src/accounts/credentials.js';
import { newTrackingId } from '../../src/shipments/accept.js';
import { newFolder } from '../support/deployment.js';

const haproxy = '/usr/sbin/haproxy';
const hasProgram = existsSync(haproxy);
if (!hasProgram) console.warn('SKIPPED: haproxy is not installed, so its configurations are not checked');
const ifInstalled = hasProgram ? test : test.skip;

ifInstalled('HAProxy accepts the configuration for cells', () => {
  const env = { CELLS_MAP: 'docs/scaling/cells.map', CELL_EU: '127.0.0.1:1', CELL_US: '127.0.0.1:2' };
  const { status, stderr } = spawnSync(haproxy, ['-c', '-f', 'docs/scaling/haproxy.cfg'], {
    env,
    encoding: 'utf8',
  });
  expect({ status, problems: /ALERT|WARNING/.exec(stderr) }).toEqual({ status: 0, problems: null });
});

ifInstalled('HAProxy accepts the configuration of Docker Compose', () => {
  const text = readFileSync('.haproxy/haproxy.cfg', 'utf8');
  const folder = newFolder();
  const file = join(folder.path, 'haproxy.cfg');
  writeFileSync(file, text.replaceAll(/ api-\d:8080/g, ' 127.0.0.1:1')); // names that only Docker resolves
  const { status, stderr } = spawnSync(haproxy, ['-c', '-f', file], { encoding: 'utf8' });
  folder.remove();
  expect({ status, problems: /ALERT|WARNING/.exec(stderr) }).toEqual({ status: 0, problems: null });
});

test('the map of cells finds the cell in all that names one, and in nothing that was made without', () => {
  const lines = readFileSync('docs/scaling/cells.map', 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(' ') as [string, string]);
  const cellOf = (name: string) => lines.find(([form]) => new RegExp(form).test(name))?.[1];
  for (const cell of ['eu', 'us']) {
    const named = [newAccountKey(cell), newLinkToken(cell), newTrackingId(Date.now(), cell), cell];
    expect(named.map(cellOf)).toEqual(named.map(() => cell));
  }
  const unnamed = [
    newAccountKey(undefined),
    newLinkToken(undefined),
    newTrackingId(Date.now()),
    'ak_eu_short',
  ];
  expect(unnamed.map(cellOf)).toEqual(unnamed.map(() => undefined));
});
