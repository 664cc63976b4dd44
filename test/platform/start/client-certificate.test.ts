import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { registerAccount, registerWebhook, type Account } from '../../support/client.js';
import { startProcess, stopProcess, type RunningProcess } from '../../support/harness.js';
import { sharedService } from '../../support/shared-service.js';
import { good, rsa } from '../../unit/engine/send/certificates.js';

let folder: string;
let receiver: Server;
const shown: string[] = [];
const processes: RunningProcess[] = [];
let env: Record<string, string>;
let account: Account;
let webhookId: string;

beforeAll(async () => {
  const service = await sharedService();
  folder = mkdtempSync(join(tmpdir(), 'parcelhook-mtls-'));
  const fileOf = (name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  env = {
    ...service.env,
    NODE_EXTRA_CA_CERTS: fileOf('authority.pem', rsa.cert),
    CLIENT_CERT_FILE: fileOf('cert.pem', good.cert),
    CLIENT_KEY_FILE: fileOf('key.pem', good.key),
  };
  receiver = createServer(
    { ...rsa, requestCert: true, rejectUnauthorized: true, ca: good.cert },
    (request, response) => {
      shown.push((request.socket as TLSSocket).getPeerCertificate().fingerprint256);
      response.end();
    },
  );
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  account = await registerAccount(service);
  const { port } = receiver.address() as AddressInfo;
  ({ webhookId } = await registerWebhook(account, `https://127.0.0.1:${port}/`));
});
afterAll(async () => {
  for (const process of processes) await stopProcess(process);
  receiver?.close();
  rmSync(folder, { recursive: true });
});

async function testBy(settings: Record<string, string>) {
  const process = await startProcess(settings, 'api');
  processes.push(process);
  const call = async (path: string, method = 'GET') => {
    const response = await fetch(`${process.url}${path}?key=${account.accountKey}`, {
      method,
      headers: { authorization: `Bearer ${account.token}` },
    });
    return ((await response.json()) as { data: Record<string, unknown> }).data;
  };
  return { egress: await call('/v1/egress'), sent: await call(`/v1/webhooks/${webhookId}/test`, 'POST') };
}

test('a receiver that demands a certificate is shown the one that its owner sees in advance', async () => {
  const { egress, sent } = await testBy(env);
  expect(egress).toEqual({
    addresses: [],
    certificate: {
      subject: 'CN=good',
      fingerprint256: expect.any(String),
      validTo: '2125-01-01T00:00:00+00:00',
    },
  });
  expect(sent).toMatchObject({ statusCode: 200, errorCode: null });
  expect(shown).toEqual([(egress.certificate as { fingerprint256: string }).fingerprint256]);
});

test('where there is none, the attempt says that the receiver demands one', async () => {
  const { egress, sent } = await testBy({ ...env, CLIENT_CERT_FILE: '', CLIENT_KEY_FILE: '' });
  expect(egress).toEqual({ addresses: [] });
  expect(sent).toMatchObject({ errorCode: 'TLS', errorDetail: 'CLIENT_CERTIFICATE_REQUIRED' });
});
