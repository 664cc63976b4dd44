import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expiryWarning, factsOf } from '../../../src/config/client-certificate.js';
import { clientCertificateOf, parseConfig } from '../../../src/config/config.js';
import { chain, expired, good, rsa } from '../engine/send/certificates.js';

let folder: string;
const fileOf = (name: string, content: string) => {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
};
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parcelhook-certificates-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('a certificate with its key is read, and what follows it in its file', () => {
  const config = parseConfig({
    CLIENT_CERT_FILE: fileOf('cert.pem', good.cert + chain.intermediate),
    CLIENT_KEY_FILE: fileOf('key.pem', good.key),
  });
  expect(clientCertificateOf(config)).toEqual({ cert: good.cert + chain.intermediate, key: good.key });
  expect(clientCertificateOf(parseConfig({}))).toBeUndefined();
});

test('a start with one of the two, unreadable ones, or ones that do not match is refused', () => {
  const keyOf = (namedCurve: string) =>
    generateKeyPairSync('ec', { namedCurve }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const [cert, key] = [fileOf('cert.pem', good.cert), fileOf('key.pem', good.key)];
  const wrong: [Record<string, string>, string][] = [
    [{ CLIENT_CERT_FILE: cert }, 'CLIENT_KEY_FILE: is required with CLIENT_CERT_FILE'],
    [{ CLIENT_KEY_FILE: key }, 'CLIENT_CERT_FILE: is required with CLIENT_KEY_FILE'],
    [{ CLIENT_CERT_FILE: '/nowhere/cert.pem', CLIENT_KEY_FILE: key }, 'CLIENT_CERT_FILE: '],
    [
      { CLIENT_CERT_FILE: key, CLIENT_KEY_FILE: key },
      'CLIENT_CERT_FILE: must be the path of a PEM file with',
    ],
    [
      { CLIENT_CERT_FILE: cert, CLIENT_KEY_FILE: cert },
      'CLIENT_KEY_FILE: must be the path of a PEM file with',
    ],
    [
      { CLIENT_CERT_FILE: cert, CLIENT_KEY_FILE: fileOf('rsa.pem', rsa.key) },
      'CLIENT_KEY_FILE: is not the key of the first certificate in CLIENT_CERT_FILE',
    ],
    [
      { CLIENT_CERT_FILE: cert, CLIENT_KEY_FILE: fileOf('521.pem', keyOf('secp521r1')) },
      'CLIENT_KEY_FILE: must have a key of RSA, P-256, P-384 or Ed25519, not ec secp521r1',
    ],
  ];
  for (const [env, problem] of wrong) {
    let message = '';
    try {
      parseConfig(env);
    } catch (error) {
      ({ message } = error as Error);
    }
    expect(message.split('\n').slice(1)).toEqual([expect.stringContaining(problem)]);
    expect(message).not.toContain('PRIVATE');
  }
});

test('a certificate that has expired, or does within 30 days, is said at the start', () => {
  const facts = factsOf(good.cert);
  expect(facts).toEqual({
    subject: 'CN=good',
    fingerprint256: expect.stringMatching(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/),
    validTo: new Date('2125-01-01T00:00:00Z'),
  });
  expect(expiryWarning(facts, Date.now())).toBeNull();
  expect(expiryWarning(facts, Date.parse('2124-12-03T00:00:00Z'))).toContain('within 30 days');
  expect(expiryWarning(factsOf(expired.cert), Date.now())).toContain('has expired');
});
