import type { z } from 'zod';
import { version } from '../platform/version.js';
import { createSchemaCollector, exampleOf, type SchemaCollector } from './openapi/schemas.js';
import type { JsonSchema, Reference } from './openapi/types.js';

/** A kind of notification, as both API documents describe it. */
export interface NotificationKind {
  /** `shipmentState` */
  name: string;
  title: string;
  /** When it is sent, and to which webhooks. */
  about: string;
  payload: z.ZodObject;
}

export interface NotificationsOptions {
  kinds: NotificationKind[];
  /** Request headers of all notifications. */
  headers: z.ZodObject;
  /** Prose on how they are delivered. */
  delivery: string;
  /** Prose on how `webhook-signature` is made and checked. */
  signature: string;
}

const json = 'application/json';
const standardWebhooks = 'https://www.standardwebhooks.com';

/** The AsyncAPI 3.0 document of the notifications. */
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
      description: `What the service sends to the webhooks registered through its API, which \`/openapi.json\` describes.\n\n${delivery}`,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      externalDocs: { description: 'How notifications are signed.', url: standardWebhooks },
    },
    defaultContentType: json,
    servers: {
      receiver: {
        host: '{host}',
        protocol: 'https',
        description: 'The host of `targetAddress`; `http` if the operator allows it.',
        variables: {
          host: { description: 'With its port if that is not 443.', examples: ['example.com'] },
        },
        security: [{ $ref: '#/components/securitySchemes/signature' }],
      },
    },
    channels: {
      webhook: {
        address: '/{path}',
        title: 'A webhook',
        description: 'A registered webhook; one request per notification.',
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
      description: 'The same for all attempts: use it to deduplicate.',
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

/** Header names as most servers pass them on; JSON Schema has no case-insensitive names. */
const inLowerCase = ({ properties = {}, required = [], ...schema }: JsonSchema): JsonSchema => ({
  ...schema,
  properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name.toLowerCase(), one])),
  required: required.map((name) => name.toLowerCase()),
});

/** The parts of AsyncAPI 3.0 that the document uses. */
export interface AsyncApiDocument {
  asyncapi: '3.0.0';
  info: {
    title: string;
    version: string;
    description: string;
    license: { name: string; url: string };
    externalDocs: { description: string; url: string };
  };
  defaultContentType: string;
  servers: Record<string, ServerObject>;
  channels: Record<string, Channel>;
  operations: Record<string, Operation>;
  components: {
    messages: Record<string, MessageObject>;
    schemas: Record<string, JsonSchema>;
    securitySchemes: Record<string, SecurityScheme>;
  };
}

interface Named {
  description: string;
  examples: string[];
}

interface ServerObject {
  host: string;
  protocol: string;
  description: string;
  variables: Record<string, Named>;
  security: Reference[];
}

interface Channel {
  address: string;
  title: string;
  description: string;
  servers: Reference[];
  parameters: Record<string, Named>;
  messages: Record<string, Reference>;
}

export interface Operation {
  action: 'send';
  channel: Reference;
  title: string;
  summary: string;
  messages: Reference[];
  bindings: { http: { method: string; bindingVersion: string } };
}

export interface MessageObject {
  name: string;
  title: string;
  summary: string;
  description: string;
  contentType: string;
  correlationId: { location: string; description: string };
  headers: Reference;
  payload: JsonSchema;
  examples: { name: string; headers: unknown; payload: unknown }[];
}

interface SecurityScheme {
  type: string;
  name: string;
  in: string;
  description: string;
}
