import type { z } from 'zod';
import { version } from '../../platform/version.js';
import { scopesFor, type Route } from '../route.js';
import { introduction, securitySchemes, tags, title, securityOf } from './intro.js';
import { failureResponses, headers, responsesOf } from './responses.js';
import {
  createSchemaCollector,
  exampleOf,
  ownId,
  type SchemaCollector,
  type OpenApiDocument,
  type Paths,
  type JsonSchema,
  type Operation,
  type Parameter,
} from './schemas.js';

export interface DocumentOptions {
  routes: Route[];
  pages(schemas: SchemaCollector): Paths;
  webhooks(schemas: SchemaCollector): Paths;
  serverUrl: string;
}

/** The OpenAPI 3.1 document of what this process serves. */
export function createDocument({ routes, pages, webhooks, serverUrl }: DocumentOptions): OpenApiDocument {
  const schemas = createSchemaCollector();
  const responses = failureResponses(schemas);
  const paths = { ...pathsOf(routes, schemas), ...pages(schemas) };
  return {
    openapi: '3.1.0',
    info: {
      title,
      version,
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    externalDocs: {
      description: 'How to receive notifications.',
      url: `${serverUrl.replace(/\/+$/, '')}/docs/receiving`,
    },
    servers: [{ url: serverUrl }],
    tags: [...tags],
    paths,
    webhooks: webhooks(schemas),
    components: { schemas: schemas.components, responses, headers, securitySchemes },
  };
}

const pathsOf = (routes: Route[], schemas: SchemaCollector): Paths =>
  routes.reduce<Paths>((paths, route) => {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    return { ...paths, [path]: { ...paths[path], [route.method]: operationOf(route, schemas) } };
  }, {});

function operationOf(route: Route, schemas: SchemaCollector): Operation {
  const parameters = [
    ...parametersOf(route.params, 'path', schemas),
    ...(route.auth === 'login' || route.auth === 'shipper' ? [accountKey] : []),
    ...parametersOf(route.query, 'query', schemas),
    ...parametersOf(route.headers, 'header', schemas),
  ];
  const requestBody = requestBodyOf(route, schemas);
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...describe(route),
    security: [...securityOf[route.auth], ...(programScopes(route).length > 0 ? securityOf.program : [])],
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: responsesOf(route, schemas),
  };
}

/** The scopes of a program's token, for the operations that take one. */
const programScopes = (route: Route) => (route.auth === 'shipper' ? scopesFor(route) : []);

function describe(route: Route): { description?: string } {
  const scopes = programScopes(route).map((scope) => `\`${scope}\``);
  const sentences = [
    ...(route.description === undefined ? [] : [route.description]),
    ...(scopes.length > 0 ? [`A token of a program needs the scope ${scopes.join(' or ')}.`] : []),
  ];
  return sentences.length > 0 ? { description: sentences.join(' ') } : {};
}

/** The security scheme of that name as a parameter: many clients cannot send it beside another scheme. */
const accountKey: Parameter = {
  name: securitySchemes.accountKey.name,
  in: 'query',
  required: false,
  description: `${securitySchemes.accountKey.description} Only a request with a program's token or the portal's cookie may leave it out.`,
  schema: { type: 'string' },
};

export function parametersOf(
  fields: z.ZodObject,
  place: Parameter['in'],
  schemas: SchemaCollector,
): Parameter[] {
  const { properties = {}, required = [] } = schemas.toJson(fields, 'input');
  return Object.entries(properties).map(([name, property]) => {
    const { description = '', examples, ...schema } = property;
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      description,
      schema,
      ...(examples && { example: ownId(name, examples[0]) }),
    };
  });
}

function requestBodyOf({ body, bodyExample }: Route, schemas: SchemaCollector): Operation['requestBody'] {
  const schema = schemas.toJson(body, 'body');
  if (takesNothing(schema)) return undefined;
  const example = bodyExample ?? exampleOf(schema, schemas.components);
  return {
    required: !body.safeParse(undefined).success,
    content: { 'application/json': { schema, example } },
  };
}

const takesNothing = ({ $ref, properties = {} }: JsonSchema) =>
  $ref === undefined && Object.keys(properties).length === 0;
