export interface OpenApiDocument {
  openapi: '3.1.0';
  info: {
    title: string;
    version: string;
    description: string;
    license: { name: string; identifier: string };
  };
  externalDocs: { description: string; url: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Paths;
  webhooks: Paths;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, ResponseObject>;
    headers: Record<string, HeaderObject>;
    securitySchemes: Record<string, object>;
  };
}

export type Method = 'get' | 'post' | 'patch' | 'delete';
export type Paths = Record<string, Partial<Record<Method, Operation>>>;

export interface Operation {
  operationId: string;
  tags: [string];
  summary: string;
  description?: string;
  /** Not for a client to call. */
  'x-internal'?: true;
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, ResponseObject | Reference>;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: string;
  schema: JsonSchema;
  example?: unknown;
}

export interface ResponseObject {
  description: string;
  headers?: Record<string, HeaderObject | Reference>;
  content?: Content;
}

export interface HeaderObject {
  description: string;
  schema: JsonSchema;
}

/** In OpenAPI 3.1 a reference may override the description. */
export interface Reference {
  $ref: string;
  description?: string;
}

export type Content = Record<string, { schema: JsonSchema; example?: unknown }>;

export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  examples?: unknown[];
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema;
  propertyNames?: JsonSchema;
  format?: string;
  pattern?: string;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  [keyword: string]: unknown;
}
