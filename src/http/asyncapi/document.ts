import type { z } from 'zod';
import { version } from '../../version.js';
import { createSchemaCollector, exampleOf, type SchemaCollector } from '../openapi/schemas.js';
import type { JsonSchema } from '../openapi/types.js';
import type { AsyncApiDocument, MessageObject, Operation } from './types.js';

/** A kind of notification: what is sent to receivers, as the documents show it. */
export interface NotificationKind {
  /** In both documents: `shipmentState`. */
  name: string;
  title: string;
  /** When it is sent, and to whom. */
  about: string;
  payload: z.ZodObject;
}

export interface NotificationsOptions {
  kinds: NotificationKind[];
  /** Request headers that all of them bear. */
  headers: z.ZodObject;
  /** How they are delivered, for people. */
  delivery: string;
  /** How `webhook-signature` is made and checked. */
  signature: string;
}

const json = 'application/json';
const standardWebhooks = 'https://www.standardwebhooks.com';

/** The AsyncAPI 3.0 document of what the service sends to webhooks. */
export function createNotificationsDocument(options: NotificationsOptions): AsyncApiDocument {
  const { kinds, delivery, signature } = options;
  const schemas = createSchemaCollector();
  const headers = inLowerCase(schemas.toJson(options.headers, 'output'));
  const messages = byName(kinds, (kind) => messageOf(kind, headers, schemas));
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Parcelhook notifications',
      version,
      description: `What the service sends to webhooks that were registered by its API, which \`/openapi.json\` describes.\n\n${delivery}`,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      externalDocs: { description: 'How notifications are signed.', url: standardWebhooks },
    },
    defaultContentType: json,
    servers: {
      receiver: {
        host: '{host}',
        protocol: 'https',
        description: 'The host of `targetAddress`; by `http` where the operator allows it.',
        variables: {
          host: { description: 'With its port where that is not 443.', examples: ['example.com'] },
        },
        security: [{ $ref: '#/components/securitySchemes/signature' }],
      },
    },
    channels: {
      webhook: {
        address: '/{path}',
        title: 'A webhook',
        description: 'What was registered as a webhook, one request for each notification.',
        servers: [{ $ref: '#/servers/receiver' }],
        parameters: {
          path: { description: 'Path and query of `targetAddress`.', examples: ['hooks/parcelhook'] },
        },
        messages: byName(kinds, ({ name }) => ({ $ref: `#/components/messages/${name}` })),
      },
    },
    operations: Object.fromEntries(kinds.map((kind) => [`send${capitalized(kind.name)}`, operationOf(kind)])),
    components: {
      messages,
      schemas: { ...schemas.components, Headers: headers },
      securitySchemes: {
        signature: { type: 'httpApiKey', name: 'webhook-signature', in: 'header', description: signature },
      },
    },
  };
}

const byName = <Value>(
  kinds: NotificationKind[],
  valueOf: (kind: NotificationKind) => Value,
): Record<string, Value> => Object.fromEntries(kinds.map((kind) => [kind.name, valueOf(kind)]));

export const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const operationOf = ({ name, title, about }: NotificationKind): Operation => ({
  action: 'send',
  channel: { $ref: '#/channels/webhook' },
  title,
  summary: about,
  messages: [{ $ref: `#/channels/webhook/messages/${name}` }],
  bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
});

function messageOf(
  { name, title, about, payload: schema }: NotificationKind,
  headers: JsonSchema,
  schemas: SchemaCollector,
): MessageObject {
  const payload = schemas.toJson(schema, 'output');
  return {
    name,
    title,
    summary: schema.description ?? '',
    description: about,
    contentType: json,
    correlationId: {
      location: '$message.header#/webhook-id',
      description: 'The same on all attempts: deduplicate by it.',
    },
    headers: { $ref: '#/components/schemas/Headers' },
    payload,
    examples: [
      {
        name,
        headers: exampleOf(headers, schemas.components),
        payload: exampleOf(payload, schemas.components),
      },
    ],
  };
}

/** Names of headers as most servers hand them on; JSON Schema knows no names whose case does not matter. */
const inLowerCase = ({ properties = {}, required = [], ...schema }: JsonSchema): JsonSchema => ({
  ...schema,
  properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name.toLowerCase(), one])),
  required: required.map((name) => name.toLowerCase()),
});
