import { version } from '../../version.js';
import type { Route } from '../route.js';
import { introduction, securitySchemes, tags, title } from './intro.js';
import { operationOf } from './operation.js';
import { failureResponses, headers } from './responses.js';
import { createSchemaCollector, type SchemaCollector } from './schemas.js';
import type { OpenApiDocument, Paths } from './types.js';

export interface DocumentOptions {
  routes: Route[];
  /** Paths outside the table of routes. */
  pages(schemas: SchemaCollector): Paths;
  /** What is sent to receivers. */
  webhooks(schemas: SchemaCollector): Paths;
  /** Base URL of the service; `/` is the host that serves the document. */
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
      description: 'The notifications as an AsyncAPI 3.0 document.',
      url: `${serverUrl.replace(/\/+$/, '')}/asyncapi.json`,
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
    return { ...paths, [path]: { ...paths[path], [route.method]: operationOf(route, routes, schemas) } };
  }, {});
