import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { OpenApiDocument } from '../../../src/http/openapi/schemas.js';
import { placeOrder, registerAccount, registerWebhook, type Account } from '../../support/client.js';
import { startService, type Service } from '../../support/harness.js';
import { startReceiver, type Received, type Receiver } from '../../support/receiver.js';
import { closed, expectValid, schemaCompiler } from '../../support/openapi.js';

let service: Service;
let account: Account;
let receiver: Receiver;
let document: OpenApiDocument;

beforeAll(async () => {
  service = await startService();
  account = await registerAccount(service);
  receiver = await startReceiver();
  document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApiDocument;
});
afterAll(async () => {
  await receiver?.close();
  await service?.stop();
});

/** Throws unless every header and every field of the body is described. */
function expectPromised(name: string, { headers, notification }: Received): void {
  const { parameters = [] } = document.webhooks[name]!.post!;
  const compile = schemaCompiler(closed(document));
  parameters.forEach((parameter, index) => {
    const value = headers[parameter.name.toLowerCase()];
    expect({ header: parameter.name, isThere: value !== undefined }).toMatchObject({
      isThere: parameter.required || value !== undefined,
    });
    if (value === undefined) return;
    const schema = compile('webhooks', name, 'post', 'parameters', String(index), 'schema');
    expectValid(schema, value, `${parameter.name} of ${name}`);
  });
  const body = ['webhooks', name, 'post', 'requestBody', 'content', 'application/json', 'schema'];
  expectValid(compile(...body), notification, name);
}

test('webhooks get what the document promises: states, tests and notices', async () => {
  const { webhookId } = await registerWebhook(account, receiver.url, {
    interests: ['*', 'WEBHOOK_DISABLED'],
  });
  await placeOrder(account);
  const [state] = await receiver.waitFor(1);
  expectPromised('shipmentState', state!);
  expect(() => expectPromised('testNotification', state!)).toThrow();

  await account.call(`/v1/webhooks/${webhookId}/test`, { method: 'POST' });
  const [, sample] = await receiver.waitFor(2);
  expectPromised('testNotification', sample!);

  const gone = await startReceiver(() => ({ status: 410 }));
  await registerWebhook(account, gone.url);
  await placeOrder(account);
  const [notice] = await receiver.waitFor(1, ({ notification }) => 'webhook_id' in notification);
  expectPromised('webhookNotice', notice!);
  expect(() => expectPromised('shipmentState', notice!)).toThrow();
  await gone.close();
});
