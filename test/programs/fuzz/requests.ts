import fc from 'fast-check';
import type { OpenApiDocument, Operation } from '../../../src/http/openapi/schemas.js';
import { operationsOf, type Described } from '../../support/openapi.js';
import { changed, changes, hostileBytes, hostileHeaders, hostileLeaf, hostileQuery } from './hostile.js';
import { fieldOf, valueOf, type Components } from './values.js';

type Fields = Record<string, unknown>;

/** Nothing happens during a long poll: long ones would take most of the time. */
const shortWait = fc.constantFrom('0s', '1ms', '20ms');

export interface Draft {
  operationId: string;
  /** `valid`: as in the document, so it must not be refused for its format. */
  kind: 'valid' | 'nearly' | 'hostile';
  method: string;
  path: string;
  /** One of the document's alternatives. */
  security: Operation['security'][number];
  inPath: Fields;
  query: [string, unknown][];
  headers: Record<string, string>;
  type?: string;
  body?: unknown;
  bytes?: (text: string) => Buffer;
}

/** Half of them valid, a quarter nearly so, a quarter hostile. */
export function requestsOf(document: OpenApiDocument): fc.Arbitrary<Draft> {
  const all = [...operationsOf(document).values()];
  const valid = fc.oneof(...all.map((described) => validRequest(described, document.components.schemas)));
  return fc.oneof(
    { weight: 2, arbitrary: valid },
    {
      weight: 1,
      arbitrary: fc.tuple(valid, nearly).map(([draft, change]) => change({ ...draft, kind: 'nearly' })),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(valid, hostile).map(([draft, change]) => change({ ...draft, kind: 'hostile' })),
    },
  );
}

function validRequest({ method, path, operation }: Described, components: Components): fc.Arbitrary<Draft> {
  const { operationId, security: alternatives, parameters = [], requestBody } = operation;
  const fieldsIn = (place: string): fc.Arbitrary<Fields> => {
    // The key is sent as the security scheme that it is, too.
    const own = parameters.filter(({ in: its, name }) => its === place && name !== 'key');
    return fc.record(
      Object.fromEntries(
        own.map(({ name, schema }) => [
          name,
          name === 'wait' ? shortWait : fieldOf(name, schema, components),
        ]),
      ),
      { requiredKeys: own.filter(({ required }) => required).map(({ name }) => name), noNullPrototype: true },
    );
  };
  const bodies = Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) =>
    valueOf(schema, components).map((body) => ({ type, body })),
  );
  const none = requestBody?.required ? [] : [fc.constant({})];
  return fc
    .record({
      inPath: fieldsIn('path'),
      query: fieldsIn('query'),
      headers: fieldsIn('header'),
      security: fc.constantFrom(...(alternatives.length > 0 ? alternatives : [{}])),
      content: fc.oneof(...bodies, ...none),
    })
    .map(({ inPath, query, headers, security, content }) => ({
      operationId,
      kind: 'valid',
      method: method.toUpperCase(),
      path,
      security,
      inPath,
      query: Object.entries(query),
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      ...content,
    }));
}

type Change = (draft: Draft) => Draft;

const nearly: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 3,
    arbitrary: changes.map((list): Change => (draft) => ({
      ...draft,
      type: draft.type ?? 'application/json',
      body: list.reduce(changed, draft.body ?? {}),
    })),
  },
  {
    weight: 1,
    arbitrary: hostileQuery.map((pair): Change => (draft) => ({ ...draft, query: [...draft.query, pair] })),
  },
  {
    weight: 1,
    arbitrary: hostileLeaf.map((value): Change => (draft) => ({
      ...draft,
      query: draft.query.map(([name]): [string, unknown] => [name, value]),
    })),
  },
  {
    weight: 1,
    arbitrary: hostileLeaf.map((value): Change => (draft) => {
      const names = Object.keys(draft.inPath);
      return { ...draft, inPath: Object.fromEntries(names.map((name) => [name, value])) };
    }),
  },
);

const hostile: fc.Arbitrary<Change> = fc.oneof(
  hostileBytes.map((bytes): Change => (draft) => ({ type: 'application/json', ...draft, bytes })),
  hostileHeaders.map((headers): Change => (draft) => ({
    ...draft,
    headers: { ...draft.headers, ...headers },
  })),
  fc.json({ stringUnit: 'binary' }).map((text): Change => (draft) => ({
    ...draft,
    type: 'application/json',
    bytes: () => Buffer.from(text),
  })),
  fc
    .constantFrom('PUT', 'TRACE', 'OPTIONS', 'HEAD', 'PROPFIND', 'DELETE', 'PATCH', 'POST', 'GET')
    .map((method): Change => (draft) => ({ ...draft, method })),
  fc
    .array(hostileQuery, { minLength: 1, maxLength: 30 })
    .map((query): Change => (draft) => ({ ...draft, query })),
);
