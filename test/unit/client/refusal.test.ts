import { expect, test } from '@jest/globals';
import { lineOf } from '../../../src/client/listen/refusal.js';

const base64 = 'q/+8vX3/Zk+T0aBcD/eFgHiJ+kLmNoPqRsTuVwXyZ0E=';
const secret = `whsec_${base64}`;
const key = Buffer.from(base64, 'base64');
const hex = key.toString('hex');

const lineOfText = (text: string) =>
  lineOf({ text, date: undefined, asksForLogin: false }, { secret, given: secret });
const asUnicode = (text: string) =>
  text.replace(
    /[+/=]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
  );
const asEntities = (text: string) =>
  text.replace(/[+/=]/g, (character) => `&#x${character.charCodeAt(0).toString(16)};`);

test.each([
  ['as text', base64],
  ['in JSON', base64.replaceAll('/', '\\/')],
  ['in JSON within JSON', JSON.stringify(JSON.stringify(base64).replaceAll('/', '\\/')).slice(3, -3)],
  ['in JSON with \\u', asUnicode(base64)],
  ['in JSON with \\u within JSON', JSON.stringify(asUnicode(base64)).slice(1, -1)],
  ['percent-encoded', encodeURIComponent(base64)],
  ['percent-encoded twice', encodeURIComponent(encodeURIComponent(base64))],
  ['in HTML', asEntities(base64)],
  ['in HTML with decimals', base64.replaceAll('+', '&#43;').replaceAll('/', '&#47;')],
  ['for URLs', key.toString('base64url')],
  ['without padding', base64.replace('=', '')],
  ['in part', base64.slice(10, 20)],
  ['in hex', hex],
  ['in hex in upper case', hex.toUpperCase()],
  ['in hex with spaces', hex.match(/../g)!.join(' ')],
  ['in hex with colons', hex.match(/../g)!.join(':')],
])('a server that repeats the secret %s does not have it printed', (_how, form) => {
  expect(lineOfText(`expected "${form}", got none`)).toBe('expected "…", got none');
  expect(lineOfText(`{"is":"whsec_${form}" }`)).toMatch(/^\{"is":"whsec_…"? /);
  expect(lineOfText(`key:${form}`)).toMatch(/^(key:)?…$/);
});

test('what a server says otherwise is printed in a line, escapes of letters beyond ASCII as they came', () => {
  const text =
    'signature/check\nfailed: 100% of \\u00e9 and deadbeef, 3f 5a b1; see https:\\/\\/example.org\u001B';
  expect(lineOfText(text)).toBe(
    'signature/check failed: 100% of \\u00e9 and deadbeef, 3f 5a b1; see https://example.org',
  );
});

test('a text made of escapes takes no time', () => {
  for (const text of [`%${'25'.repeat(2_047)}`, '\\'.repeat(4_096), 'ab '.repeat(1_365), 'A'.repeat(4_096)]) {
    const before = process.cpuUsage();
    expect(lineOfText(text)).not.toBeNull();
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(500);
  }
});
