import { describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { programFile, runProgram } from '../support/program.js';
import { productionOptions } from '../support/process.js';

const commands = ['all', 'api', 'worker', 'migrate', 'operator', 'listen', 'receiver'];
const tools: [string, string][] = [
  ['operator', '--token'],
  ['listen', '--forward'],
  ['receiver', '--secret-file'],
];
const runs = promisify(execFile);

describe('the program', () => {
  test.concurrent.each(['--help', '-h', 'help'])('lists all of its commands with %s', async (argument) => {
    const { exit, stdout } = await runProgram([argument]);
    expect(exit).toBe(0);
    expect(stdout).toContain('Usage: parcelhook [command]');
    expect([...stdout.matchAll(/^ {2}([a-z]+) {2}/gm)].map(([, name]) => name)).toEqual(commands);
  });

  test.concurrent('prints its version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(await runProgram(['--version'])).toEqual({ exit: 0, stdout: `${version}\n`, stderr: '' });
  });

  test.concurrent.each([
    ['courier', 'courier'],
    ['toString', 'toString'],
    ['api worker', 'worker'],
    ['migrate now', 'now'],
  ])('refuses "%s" with exit code 64, the wrong word and the help', async (line, wrong) => {
    const { exit, stdout, stderr } = await runProgram(line.split(' '));
    expect({ exit, stdout }).toEqual({ exit: 64, stdout: '' });
    expect(stderr).toContain(`"${wrong}"`);
    expect(stderr).toContain('Usage: parcelhook [command]');
  });

  test.concurrent.each(tools)('explains the arguments of `%s` with --help', async (name, option) => {
    const { exit, stdout, stderr } = await runProgram([name, '--help']);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toContain(`Usage: parcelhook ${name} `);
    expect(stdout).toContain(option);
  });

  test.concurrent.each(['', 'operator', 'operator event load', 'listen', 'receiver'])(
    'breaks the help of `%s` between words, to the width of the terminal',
    async (name) => {
      const help = async (env: Record<string, string>) =>
        (await runProgram([...name.split(' ').filter(Boolean), '--help'], env)).stdout;
      const narrow = await help({ COLUMNS: '60' });
      const usual = await help({ COLUMNS: '80' });
      expect(await help({})).toBe(usual);
      for (const [text, width] of [[narrow, 60] as const, [usual, 80] as const])
        expect(text.split('\n').filter((line) => line.length > width)).toEqual([]);
      expect(narrow.split(/[\\\s]+/)).toEqual(usual.split(/[\\\s]+/));
    },
  );

  test.concurrent.each([
    ['operator no-such-command', 2],
    ['listen', 2],
    ['receiver --port none', 2],
    ['migrate', 78],
  ])('`%s`, used wrongly, exits with code %i', async (line, code) => {
    const { exit, stdout, stderr } = await runProgram(line.split(' '), { HOME: '/nowhere' });
    expect({ exit, stdout }).toEqual({ exit: code, stdout: '' });
    expect(stderr).not.toMatch(/^ +at /m);
  });

  test.concurrent('runs each of its tools by `npm run`', async () => {
    const help = tools.map(([name]) => runs('npm', ['run', '--silent', name, '--', '--help']));
    for (const [n, { stdout }] of (await Promise.all(help)).entries()) expect(stdout).toContain(tools[n]![1]);
  });

  test.concurrent('runs through a link in PATH, and as the entry point of the image', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parcelhook-link-'));
    try {
      symlinkSync(programFile, join(folder, 'parcelhook'));
      const { stdout } = await runs(join(folder, 'parcelhook'), ['listen', '--help']);
      expect(stdout).toContain('--forward');
    } finally {
      rmSync(folder, { recursive: true });
    }
    const dockerfile = readFileSync('Dockerfile', 'utf8');
    const [command, ...args] = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(dockerfile)![1]!) as string[];
    expect((await runs(command!, [...args, 'operator', '--help'])).stdout).toContain('--token');
    expect(dockerfile).toContain('ln -s /app/dist/main.js /usr/local/bin/parcelhook');
  });

  test('starts with the same Node options in the image, by `npm start` and in the documents', () => {
    const options = productionOptions(programFile);
    expect(readFileSync('Dockerfile', 'utf8')).toContain(
      `ENTRYPOINT ${JSON.stringify(['node', ...options, 'dist/main.js']).replaceAll('","', '", "')}`,
    );
    for (const page of ['operating', 'runbook'])
      expect(readFileSync(`docs/${page}.md`, 'utf8')).toContain(`node ${options.join(' ')} dist/main.js`);
  });
});
