import type { JsonSchema, Reference } from '../openapi/types.js';

/** The parts of AsyncAPI 3.0 that the document has. */
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
