import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import specs from '@asyncapi/specs';
import { Ajv } from 'ajv';
import type { AsyncApiDocument, MessageObject } from '../../../src/http/asyncapi.js';
import { placeOrder, registerAccount, registerWebhook, type Account } from '../../support/client.js';
import { startService, type Service } from '../../support/harness.js';
import { startReceiver, type Received, type Receiver } from '../../support/receiver.js';
import { closed, expectValid, schemaCompiler } from '../../support/openapi.js';

let service: Service;
let account: Account;
let receiver: Receiver;
let document: AsyncApiDocument;

beforeAll(async () => {
  service = await startService();
  account = await registerAccount(service);
  receiver = await startReceiver();
  document = (await (await fetch(`${service.url}/asyncapi.json`)).json()) as AsyncApiDocument;
});
afterAll(async () => {
  await receiver?.close();
  await service?.stop();
});

const messages = (): [string, MessageObject][] => Object.entries(document.components.messages);

describe('GET /asyncapi.json', () => {
  test('is valid AsyncAPI 3.0 by the official schema', () => {
    // The official schema includes its own meta-schema.
    const ajv = new Ajv({ strict: false, validateFormats: false, meta: false, validateSchema: false });
    const validate = ajv.compile(specs.schemas['3.0.0'] as object);
    expectValid(validate, document, 'the document');
    expect(validate({ ...document, info: {} })).toBe(false);
  });

  test('has no dangling reference', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path!);
    expect(refs.length).toBeGreaterThan(10);
    for (const ref of refs) {
      const target = ref
        .split('/')
        .reduce<unknown>((value, key) => (value as Record<string, unknown>)?.[key], document);
      expect({ ref, found: target !== undefined }).toEqual({ ref, found: true });
    }
  });

  test('has a valid example of every message, and the service sends each of them', () => {
    const compile = schemaCompiler(document);
    expect(messages().map(([name]) => name)).toEqual(['shipmentState', 'webhookNotice', 'testNotification']);
    for (const [name, { examples }] of messages()) {
      const [{ headers, payload }] = examples as [MessageObject['examples'][0]];
      expectValid(compile('components', 'schemas', 'Headers'), headers, name);
      expectValid(compile('components', 'messages', name, 'payload'), payload, name);
    }
    const sent = Object.values(document.operations).flatMap((operation) => operation.messages);
    const all = messages().map(([name]) => ({ $ref: `#/channels/webhook/messages/${name}` }));
    expect(sent).toEqual(all);
  });
});

/** Throws unless every field of the body is described. */
function expectPromised(name: string, { headers, notification }: Received): void {
  const compile = schemaCompiler(document);
  expectValid(compile('components', 'schemas', 'Headers'), headers, `headers of ${name}`);
  const compileClosed = schemaCompiler(closed(document));
  expectValid(compileClosed('components', 'messages', name, 'payload'), notification, name);
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
