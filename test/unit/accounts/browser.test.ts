import { expect, test } from '@jest/globals';
import { browserOf } from '../../../src/accounts/login/sessions.js';

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';

test.each([
  [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/141.0.0.0 Safari/537.36`, 'Chrome on Linux'],
  [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} HeadlessChrome/141.0.0.0 Safari/537.36`, 'Chrome on Linux'],
  [`Mozilla/5.0 (Linux; Android 10; K) ${webkit} Chrome/141.0.0.0 Mobile Safari/537.36`, 'Chrome on Android'],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${webkit} Chrome/141.0.0.0 Safari/537.36`, 'Chrome on ChromeOS'],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0`,
    'Edge on Windows',
  ],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/141.0.0.0 Safari/537.36 OPR/122.0.0.0`,
    'Opera on Windows',
  ],
  [
    `Mozilla/5.0 (Linux; Android 10; K) ${webkit} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
    'Samsung Internet on Android',
  ],
  ['Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15',
    'Safari on macOS',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
    'Safari on iPhone',
  ],
  [
    'Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/141.0.0.0 Mobile/15E148 Safari/604.1',
    'Chrome on iPad',
  ],
  ['curl/8.5.0', 'curl'],
  ['', 'Unknown browser'],
  ['Mozilla/5.0 (compatible)', 'Unknown browser'],
  ['\u0000\u001b[31m<script>', 'Unknown browser'],
  ['a\u0085b/1', 'a'],
])('the browser of %j is called %j', (userAgent, name) => {
  expect(browserOf(userAgent)).toBe(name);
});

test('no name is longer than 60 characters, whatever was sent', () => {
  for (const text of ['x', 'Firefox/', 'Version/ ', '(', 'é'])
    expect(browserOf(text.repeat(16_384 / text.length)).length).toBeLessThanOrEqual(60);
});
