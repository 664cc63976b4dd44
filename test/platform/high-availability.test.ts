/** The files of docs/high-availability, by the programs that read them. `npm run drill` starts them. */
import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newFolder } from '../support/deployment.js';

const fileOf = (name: string) =>
  fileURLToPath(new URL(`../../docs/high-availability/${name}`, import.meta.url));

const env = { PATH: `${process.env.PATH ?? ''}:/usr/sbin` };
const check = (program: string, ...args: string[]) => spawnSync(program, args, { env, encoding: 'utf8' });

function testWith(program: string) {
  if (check(program, '--version').error === undefined) return test;
  console.warn(`\n  NO ${program} ON PATH: its file of docs/high-availability is NOT TESTED.\n`);
  return test.skip;
}

testWith('haproxy')('HAProxy accepts the file that we ship, without a warning', () => {
  const { status, stdout, stderr } = check('haproxy', '-c', '-f', fileOf('haproxy.cfg'));
  expect({ status, said: stdout + stderr }).toEqual({
    status: 0,
    said: expect.not.stringMatching(/WARNING/),
  });
});

testWith('patroni')('Patroni accepts the file that we ship', () => {
  const { stdout, stderr } = check('patroni', '--validate-config', fileOf('patroni.yml'));
  // It tries to use the addresses, which this machine does not have, and wants a pg_hba for the first start only.
  const expected = /^(restapi|postgresql)\.listen 10\.0\.0\.11:|^bootstrap\.pg_hba +is not defined/;
  const said = (stdout + stderr).split('\n').filter((line) => line !== '' && !expected.test(line));
  expect(said).toEqual([]);
});

testWith('pgbackrest')('pgBackRest accepts the file that we ship, without a warning', () => {
  const folder = newFolder();
  const config = join(folder.path, 'pgbackrest.conf');
  const text = readFileSync(fileOf('pgbackrest.conf'), 'utf8').replace('/var/lib/pgbackrest', folder.path);
  writeFileSync(config, text);
  const options = [`--config=${config}`, '--log-level-file=off', `--lock-path=${folder.path}`];
  const { stdout, stderr } = check('pgbackrest', ...options, '--stanza=parcelhook', 'backup');
  folder.remove();
  // All that it has read is right: it only finds no stanza in the empty repository.
  const said = (stdout + stderr).split('\n').filter((line) => /^(WARN|ERROR|ASSERT)/.test(line));
  expect(said).toEqual([expect.stringMatching(/^ERROR: \[055\]: unable to load info file/)]);
});

test('the script that verifies backups is one for sh', () => {
  expect(check('sh', '-n', fileOf('verify-backup.sh'))).toMatchObject({ status: 0, stderr: '' });
});
