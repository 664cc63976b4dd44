/** Runs the documents' examples of verification in every language whose tools are on PATH. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sign } from '../../src/engine/send/headers.js';
import { newSecret } from '../../src/webhooks/sealing.js';
import { codeBlocks } from '../support/project-files.js';
import { examples, type Example } from './signature-drivers.js';

interface Request {
  secret: string;
  id: string;
  timestamp: string;
  signatures: string;
  body: string;
}

const secret = newSecret();
const otherSecret = newSecret();
const now = Math.floor(Date.now() / 1_000);
const body = '{"state":"CREATED","label_id":"Pédido 1"}';

function signed(atSeconds = now, secrets = [secret]): Request {
  const signatures = sign(secrets, 'event-1', atSeconds, body);
  return { secret, id: 'event-1', timestamp: String(atSeconds), signatures, body };
}

const cases: [what: string, request: Request, verifies: boolean][] = [
  ['a good signature', signed(), true],
  ['the second of two, during a rotation', signed(now, [otherSecret, secret]), true],
  ['the first of two, during a rotation', signed(now, [secret, otherSecret]), true],
  ['a timestamp within five minutes', signed(now - 200), true],
  ['a timestamp ahead by less', signed(now + 200), true],
  ['another body', { ...signed(), body: `${body} ` }, false],
  ['another id', { ...signed(), id: 'event-2' }, false],
  ['another timestamp', { ...signed(), timestamp: String(now - 1) }, false],
  ['another secret', { ...signed(), secret: otherSecret }, false],
  ['a signature cut short', { ...signed(), signatures: signed().signatures.slice(0, -4) }, false],
  [
    'a signature of another version',
    { ...signed(), signatures: signed().signatures.replace('v1', 'v2') },
    false,
  ],
  ['no signature', { ...signed(), signatures: '' }, false],
  ['an old notification', signed(now - 400), false],
  ['one from the future', signed(now + 400), false],
  ['no timestamp', { ...signed(), timestamp: '' }, false],
  ['a timestamp that is none', { ...signed(), timestamp: 'soon' }, false],
];

const installed = ({ tools }: Example) =>
  tools.every((tool) => spawnSync(tool, ['--version'], { stdio: 'ignore' }).error === undefined);
const missing = Object.entries(examples).filter(([, example]) => !installed(example));
for (const [language, { tools }] of missing) {
  console.warn(`\n  NO ${tools.join(' OR ')} ON PATH: the example in ${language} is NOT TESTED.\n`);
}

const blocks = [
  codeBlocks('Receive and verify')[0]!, // its second example is the server around it
  ...codeBlocks('Verify', 'docs/receiving.md'),
];

test('every language shown has a tested example', () => {
  expect(blocks.map(({ language }) => language)).toEqual(Object.keys(examples));
});

describe.each(Object.entries(examples).filter(([, example]) => installed(example)))(
  'the example in %s',
  (language, example) => {
    let folder = '';
    let verdicts: string[] = [];

    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), `parcelhook-${language}-`));
      const { code } = blocks.find((block) => block.language === language)!;
      const files = { ...example.files, [example.file]: code };
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), text);
      }
      for (const [program, ...args] of example.build ?? [])
        execFileSync(program!, args, { cwd: folder, stdio: 'pipe' });
      const fields = cases.flatMap(([, { secret, id, timestamp, signatures, body }]) => [
        ...[secret, id, timestamp, signatures],
        Buffer.from(body).toString('base64'),
      ]);
      const [program, ...args] = example.run(folder);
      verdicts = execFileSync(program!, [...args, ...fields], { cwd: folder })
        .toString()
        .trim()
        .split(/\s+/);
    }, 180_000);
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    test.each(cases.map(([what, , verifies], index) => ({ what, verifies, index })))(
      'returns $verifies for $what',
      ({ verifies, index }) => {
        expect(verdicts[index]).toBe(String(verifies));
      },
    );
  },
);
