/** The files of docs/high-availability, by the programs that read them. `npm run drill` starts them. */
import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

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
