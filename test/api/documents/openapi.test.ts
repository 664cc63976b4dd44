import { describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { IRouter } from 'express';
import { startApp } from '../../../src/roles/app.js';
import { parseConfig, type CompleteConfig } from '../../../src/config/config.js';
import type { JsonSchema, OpenApiDocument, Parameter } from '../../../src/http/openapi/schemas.js';
import { createLogger } from '../../../src/platform/telemetry/logger.js';
import { createCatalogue } from '../../../src/shipments/states.js';
import { sharedService } from '../../support/shared-service.js';
import { sendRaw } from '../../support/client.js';
import { operationsOf, expectValid, schemaCompiler } from '../../support/openapi.js';

const service = await sharedService();
const first = await fetch(`${service.url}/openapi.json`);
const text = await first.text();
const document = JSON.parse(text) as OpenApiDocument;
const operations = [...operationsOf(document).values()];

function* objectsIn(value: unknown, pointer: string[] = []): Generator<[Record<string, unknown>, string[]]> {
  if (typeof value !== 'object' || value === null) return;
  yield [value as Record<string, unknown>, pointer];
  for (const [key, child] of Object.entries(value)) yield* objectsIn(child, [...pointer, key]);
}

describe('the document', () => {
  test('is valid OpenAPI 3.1 by the official schema', async () => {
    const validator = new Validator();
    expect(await validator.validate({ ...structuredClone(document) })).toMatchObject({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  test('has no dangling reference', () => {
    const refs = [...objectsIn(document)].flatMap(([{ $ref }]) => (typeof $ref === 'string' ? [$ref] : []));
    expect(refs.length).toBeGreaterThan(100);
    for (const ref of refs) {
      const target = ref
        .split('/')
        .slice(1)
        .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], document);
      expect({ ref, found: target !== undefined }).toEqual({ ref, found: true });
    }
  });

  test('has an example for every body, and every example is valid', () => {
    const compile = schemaCompiler(document);
    let examples = 0;
    for (const [object, pointer] of objectsIn(document)) {
      if (pointer.at(-1) === 'application/json' && !/^\/\w+\.json$/.test(pointer.at(1)!))
        expect({ pointer, example: object.example }).toEqual({ pointer, example: expect.any(Object) });
      if (!('schema' in object) || !('example' in object)) continue;
      expectValid(compile(...pointer, 'schema'), object.example, pointer.join('/'));
      examples += 1;
    }
    expect(examples).toBeGreaterThan(50);
  });

  test('has examples that name no real person or host: example.com only', () => {
    const hosts = JSON.stringify(document).matchAll(/(?:https?:\/\/|\w@)(\w[\w.-]*)/g);
    for (const [, host] of hosts) expect(host).toMatch(/(^|\.)example\.(com|org)$/);
  });

  test('describes for every operation what it does, what it requires and what it accepts', () => {
    const parameters = (parameter: Parameter) => ({ ...parameter, description: expect.stringMatching(/./) });
    for (const { operation } of operations) {
      expect(operation).toMatchObject({
        operationId: expect.stringMatching(/^[a-z][A-Za-z]+$/),
        summary: expect.stringMatching(/^.{5,60}$/),
        security: expect.any(Array),
        ...(operation.parameters && { parameters: operation.parameters.map(parameters) }),
      });
      expect(document.tags.map(({ name }) => name)).toContain(operation.tags[0]);
      for (const response of Object.values(operation.responses))
        if (!('$ref' in response)) expect(response.description).toMatch(/./);
    }
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
  });

  test('describes every field', () => {
    const fields = [...objectsIn(document.components.schemas)].filter(
      ([{ type, $ref }, pointer]) => pointer.at(-2) === 'properties' && type !== undefined && !$ref,
    );
    expect(fields.length).toBeGreaterThan(100);
    const silent = fields.filter(([{ type, description }]) => !description && type !== 'object');
    expect(silent.map(([, pointer]) => pointer.join('.'))).toEqual([]);
  });

  test('declares every parameter of its paths', () => {
    for (const { path, operation } of operations) {
      const declared = (operation.parameters ?? []).filter(({ in: place }) => place === 'path');
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(declared.map(({ name }) => name)).toEqual(inPath);
    }
  });
});

describe('generators of clients find in the document', () => {
  const schemas = [...objectsIn(document)].filter(
    ([{ type, enum: names, anyOf }, pointer]) =>
      (typeof type === 'string' || [type, names, anyOf].some(Array.isArray)) &&
      !pointer.some((part) => part.startsWith('example')) &&
      pointer.at(-1) !== 'properties',
  ) as unknown as [JsonSchema, string[]][];
  const placesOf = (isFound: (schema: JsonSchema) => boolean) =>
    schemas.filter(([schema]) => isFound(schema)).map(([, pointer]) => pointer.join('/'));

  test('one type, which may be null, for every value that is not any JSON', () => {
    expect(schemas.length).toBeGreaterThan(500);
    const isList = ({ type }: JsonSchema) =>
      Array.isArray(type) && (type.length !== 2 || type[0] === 'null' || type[1] !== 'null');
    expect(placesOf(isList)).toEqual([]);
    const isNullOnly = ({ type }: JsonSchema) => type === 'null';
    expect(placesOf(isNullOnly).filter((place) => !place.endsWith('/data/anyOf/1'))).toEqual([]);
  });

  test('no number that they would make one of 32 bits although it may be larger', () => {
    const types = (schema: JsonSchema) => [schema.type].flat();
    const isNarrow = (schema: JsonSchema) =>
      (types(schema).includes('integer') && schema.format !== 'int64' && !(schema.maximum! < 2 ** 31)) ||
      (types(schema).includes('number') && schema.format !== 'double');
    expect(placesOf(isNarrow).filter((place) => !place.endsWith('Retry-After/schema'))).toEqual([]);
  });

  test('only values that they can name, and none by itself', () => {
    const isOdd = ({ enum: values = [], ...schema }: JsonSchema) =>
      'const' in schema ||
      (values as (string | null)[]).some((value) => value !== null && !/^[\w-]+$/.test(value));
    expect(placesOf(isOdd)).toEqual([]);
  });

  test('no schema whose name they give to something else', () => {
    const names = Object.keys(document.components.schemas);
    const taken = names.flatMap((name) => [`New${name}`, `Nullable${name}`, `Api${name}`, `${name}Response`]);
    expect(names.filter((name) => taken.includes(name))).toEqual([]);
    const inSmall = names.map((name) => name.toLowerCase());
    expect(new Set(inSmall).size).toBe(names.length);
  });

  test('no schema that only notifications use, which some leave out', () => {
    const refsIn = (value: unknown) =>
      [...objectsIn(value)].flatMap(([{ $ref }]) => (typeof $ref === 'string' ? [$ref] : []));
    expect(refsIn([document.paths, document.components])).toEqual(
      expect.arrayContaining(refsIn(document.webhooks)),
    );
  });

  test('one schema for a body, whatever its type', () => {
    for (const { operation } of operations) {
      const bodies = Object.values(operation.requestBody?.content ?? {});
      if (bodies.length > 1) expect(new Set(bodies.map(({ schema }) => schema.$ref)).size).toBe(1);
      for (const { schema } of bodies.slice(1)) expect(schema.$ref).toMatch(/\w+$/);
    }
  });

  test('says what each state means, and names shipments before accounts', async () => {
    const { description } = document.paths['/v1/states']!.get!;
    const page = await (await fetch(`${service.url}/docs/search?q=OUT_FOR_DELIVERY`)).text();
    expect(page).toContain('List the states of shipments');
    expect(page).not.toContain('\x60'); // the marks of its text
    for (const state of createCatalogue().names)
      expect(description).toMatch(new RegExp(`^- \\x60${state}\\x60: [a-z].{15}`, 'm'));
    const names = document.tags.map(({ name }) => name);
    expect(names[0]).toBe('Shipments');
    expect(names.indexOf('Accounts')).toBeGreaterThan(names.indexOf('Deliveries'));
  });

  test('notifications under a tag of their own', () => {
    const tagsOf = (paths: OpenApiDocument['paths']) =>
      new Set(Object.values(paths).flatMap((item) => Object.values(item).map(({ tags }) => tags[0])));
    expect([...tagsOf(document.webhooks)]).toEqual(['Notifications']);
    expect(tagsOf(document.paths)).not.toContain('Notifications');
  });

  test('the account key as a parameter wherever it is a security scheme, which comes after the token', () => {
    const withKey = operations.filter(({ operation }) => operation.security[0]?.accountKey);
    expect(withKey.length).toBeGreaterThan(20);
    for (const { operation } of operations) {
      const keys = (operation.parameters ?? []).filter(({ name }) => name === 'key');
      const isNeeded = operation.security[0]?.accountKey !== undefined;
      expect(keys).toEqual(isNeeded ? [expect.objectContaining({ in: 'query', required: false })] : []);
      if (isNeeded) expect(Object.keys(operation.security[0]!).at(-1)).toBe('accountKey');
    }
  });
});

/** Nested routers included. */
function routesOf(router: Pick<IRouter, 'stack'>): string[] {
  return router.stack.flatMap(({ route, handle }) => {
    if (route) {
      const methods = new Set(route.stack.flatMap(({ method }) => method ?? []));
      if (methods.has('trace')) return []; // returns 405 for every other method
      return [...methods].map((method) => `${method} ${route.path.replace(/:(\w+)/g, '{$1}')}`);
    }
    return 'stack' in handle ? routesOf(handle as unknown as IRouter) : [];
  });
}

/** Pages for people. */
const ofPortal =
  /^get \/(assets\/\{file\}|(webhooks|deliveries|shipments|tokens|doctor|recover|account|inbox)(\/\{id\})?)?$/;

test('the router and the document have the same routes, but for the portal', async () => {
  const app = await startApp(
    { ...parseConfig(service.env), PORT: 0 } as CompleteConfig,
    service.env.DATABASE_URL!,
    'api',
    createLogger('silent'),
  );
  const routes = routesOf(app.express.router);
  await app.stop();
  expect(routes.length).toBeGreaterThan(25);
  expect(routes.filter((one) => !ofPortal.test(one)).sort()).toEqual(
    operations.map(({ method, path }) => `${method} ${path}`).sort(),
  );
});

test('no header may begin or end with a space, which HTTP would drop', () => {
  const patterns = operations.flatMap(({ operation: { parameters = [] } }) =>
    parameters.flatMap(({ in: place, schema }) =>
      place === 'header' && !schema.enum ? [schema.pattern as string] : [],
    ),
  );
  expect(patterns.length).toBeGreaterThan(0);
  for (const pattern of patterns)
    for (const value of [' ', ' x', 'x ']) expect(new RegExp(pattern, 'u').test(value)).toBe(false);
});

describe('GET /openapi.json', () => {
  test('is JSON outside the envelope, cacheable for minutes, and 304 if unchanged', async () => {
    expect(first.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(first.headers.get('cache-control')).toBe('public, max-age=300');
    const etag = first.headers.get('etag')!;
    const head = [
      'GET /openapi.json HTTP/1.1',
      'Host: localhost',
      `If-None-Match: ${etag}`,
      'Connection: close',
    ];
    const again = await sendRaw(service.url, `${head.join('\r\n')}\r\n\r\n`);
    expect(again).toMatch(/^HTTP\/1.1 304 [^{]*$/);
  });

  test('is compressed if the client accepts it, with the same text', async () => {
    const bytes = async (accepted: string) => {
      const response = await sendRaw(
        service.url,
        `GET /openapi.json HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${accepted}\r\n`,
      );
      expect(response).toMatch(/^vary: accept-encoding\r$/im);
      return { length: response.length, text: response.slice(response.indexOf('\r\n\r\n') + 4) };
    };
    expect(first.headers.get('content-encoding')).toBe('gzip'); // which fetch accepts
    const plain = await bytes('');
    expect(plain.text).toBe(text);
    expect((await bytes('Accept-Encoding: gzip;q=0\r\n')).text).toBe(plain.text);
    expect((await bytes('Accept-Encoding: gzip\r\n')).length).toBeLessThan(plain.length / 4);
  });

  test('lists the requested host as its server', () => {
    expect(document.servers).toEqual([{ url: '/' }]);
  });
});
