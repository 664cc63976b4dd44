import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { diagnose, type DiagnosisInput } from '../../../src/client/index.js';
import { sign } from '../../../src/engine/send/headers.js';
import { renderNotification } from '../../../src/engine/record/store.js';
import { newId } from '../../../src/platform/ids.js';
import { newSecret } from '../../../src/engine/send/sealing.js';

const now = new Date('2026-11-22T12:00:00Z');
const nowSeconds = now.getTime() / 1_000;
const [secret, previousSecret] = [newSecret(), newSecret()];
const id = newId(now.getTime() - 1_000);
const body = renderNotification(
  { trackingId: 'PH1', shipperTrackingId: 'O-1' },
  { state: 'CREATED' },
  now.getTime() - 1_000,
);

const signed = (rawBody: string) => ({
  'webhook-id': id,
  'webhook-timestamp': String(nowSeconds),
  'webhook-signature': sign([secret], id, nowSeconds, rawBody),
});
const good: DiagnosisInput = { headers: signed(body), rawBody: body, secret, now };
const withHeader = (name: string, value: string) => ({ headers: { ...signed(body), [name]: value } });

async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const longBody = Buffer.alloc(65_536, 'Ab');
/** Shows how fast the machine is at the moment, which may vary by a factor of three. */
function hashMuch(): void {
  const hash = createHash('sha256');
  for (let piece = 0; piece < 1_024; piece += 1) hash.update(longBody);
}

describe('a body or headers made to keep it busy or to break it cost no more than others of their size', () => {
  const length = 500_000; // the square of it takes minutes
  test.each<[what: string, changed: Partial<DiagnosisInput>]>([
    ['white space within the body', { rawBody: `x${' '.repeat(length)}x` }],
    ['white space within a line of the headers', { headers: `webhook-id: ${' '.repeat(length)}x` }],
    ['quotation marks within the id', withHeader('webhook-id', `x${'>'.repeat(length)}x`)],
    [
      'a dump that stands for many bytes',
      { rawBody: '00000000 7b\n*\n00040000 7b\n*\n'.repeat(length / 28) },
    ],
    ['brackets before numbers', { rawBody: `${'('.repeat(24)}${' '.repeat(length)}x` }],
    ['white space within a line of a dump', { rawBody: `0000: ${' '.repeat(length)}x\u2028x` }],
    ['marks on one letter', { rawBody: `{"tracking_id":"${'\u0301\u0316'.repeat(length / 2)}"}` }],
    ['equals signs in the secret', { secret: `${'='.repeat(length)}x` }],
    ['lines of offsets', { rawBody: '00000000\n'.repeat(length / 9) }],
    ['arrays in arrays', { rawBody: `{"tracking_id":${'['.repeat(length)}${']'.repeat(length)}}` }],
  ])('%s', async (_what, changed) => {
    const { explained, findings } = await diagnose({ ...good, ...changed });
    expect({ explained, isFound: findings.length > 0 }).toEqual({ explained: false, isFound: true });
  });

  const many = (text: string) => text.repeat(Math.ceil(262_144 / Buffer.byteLength(text)));
  const signs = '&amp;lt;\u00C3\u00A9';
  const withSigns = (text: string) => `\uFEFF ${JSON.stringify({ webhook_id: 1, tracking_id: text })} \r\n`;
  const inText = JSON.stringify({ tracking_id: many(signs), webhook_id: 1 }, null, 1).replaceAll('/', '\\/');
  const headers = {
    'webhook-id': [id, `"${id.toUpperCase()} `, 'x', 'Y'],
    'webhook-timestamp': [nowSeconds, nowSeconds + 1, nowSeconds + 2, nowSeconds + 3].map(String),
    'webhook-signature': signed(body)['webhook-signature'],
  };
  const longId = many('Ab');
  const otherSignatures = Array.from({ length: 20_000 }, (_, place) => String(place).padStart(43, 'A'));
  test.each([
    ['signs of every fault', withSigns(many(`${signs}\r\n`)), {}],
    ['a text in a text', `\uFEFF ${JSON.stringify(inText)} \r\n`, {}],
    ['ids', withSigns(signs), { 'webhook-id': ['', '"', ' ', 'x'].map((end) => longId + end) }],
    ['signatures', withSigns(signs), { 'webhook-signature': `v1,${otherSignatures.join('= v1,')}=` }],
  ])('hundreds of KiB take a fraction of a second: %s', async (_what, rawBody, others) => {
    const changed = { headers: { ...headers, ...others }, rawBody, previousSecret };
    let explained: boolean | undefined;
    const cpuMs = await cpuMsOf(async () => ({ explained } = await diagnose({ ...good, ...changed })));
    expect(explained).toBe(false);
    // 1 to 10: the hash takes 50 ms where this took 1,500 at least without the bounds.
    expect(cpuMs / (await cpuMsOf(hashMuch))).toBeLessThan(25);
  });

  test('three faults in a body of 64 KiB are found all the same', async () => {
    const long = renderNotification(
      { trackingId: 'PH1', shipperTrackingId: 'é/1' },
      { state: 'CREATED', evidences: Array.from({ length: 2_000 }, (_, page) => ({ page, name: 'aé/b' })) },
      1,
    );
    const rawBody = `\uFEFF${JSON.stringify(JSON.parse(long), null, 2).replaceAll('\n', '\r\n')}\n`;
    const headers = { ...signed(long), 'webhook-id': id.toUpperCase() };
    const changed = { headers, rawBody, secret: `"${secret}"`, previousSecret };
    const { findings } = await diagnose({ ...good, ...changed });
    expect(findings.map(({ cause }) => cause)).toEqual(['SECRET_MALFORMED', 'ID_ALTERED', 'BODY_CHANGED']);
  });
});
