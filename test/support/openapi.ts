import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { OpenApiDocument, Operation, ResponseObject } from '../../src/http/openapi/schemas.js';
import type { ApiResponse } from './client.js';
import type { Received } from './receiver.js';

export interface Described {
  method: string;
  /** The path as in the document: `/v1/webhooks/{webhookId}`. */
  path: string;
  operation: Operation;
}

export const operationsOf = (document: OpenApiDocument): Map<string, Described> =>
  new Map(
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => [operation.operationId, { method, path, operation }]),
    ),
  );

export function schemaCompiler(document: object): (...pointer: string[]) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'document');
  const escaped = (token: string) => encodeURIComponent(token.replaceAll('~', '~0').replaceAll('/', '~1'));
  const compiled = new Map<string, ValidateFunction>();
  return (...pointer) => {
    const $ref = `document#/${pointer.map(escaped).join('/')}`;
    const validate = compiled.get($ref) ?? ajv.compile({ $ref });
    compiled.set($ref, validate);
    return validate;
  };
}

export function expectValid(validate: ValidateFunction, value: unknown, what: string): void {
  if (validate(value)) return;
  const problems = validate.errors!.map(({ instancePath, message, params }) =>
    [instancePath, message, JSON.stringify(params)].join(' '),
  );
  throw new Error(`${what}: ${problems.join('; ')} in ${JSON.stringify(value)}`);
}

/** Only documented fields are allowed. */
export function closed<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(closed) as T;
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const isObject = [copy.type].flat()[0] === 'object' && typeof copy.properties === 'object';
  return (
    isObject && !('additionalProperties' in copy) ? { ...copy, additionalProperties: false } : copy
  ) as T;
}

export function responseChecker(document: OpenApiDocument) {
  const operations = operationsOf(document);
  const compile = schemaCompiler(closed(document));
  const seen = new Set<string>();

  /** Throws unless the document has this response. */
  function check(operationId: string, response: ApiResponse): void {
    const { method, path, operation } = operations.get(operationId)!;
    const httpStatus = String(response.httpStatus);
    const what = `${operationId} ${httpStatus}`;
    const own = operation.responses[httpStatus];
    if (!own) throw new Error(`${what} is not in the document: ${JSON.stringify(response.body)}`);
    const shared = '$ref' in own ? own.$ref.split('/').at(-1)! : undefined;
    const described = shared ? document.components.responses[shared]! : (own as ResponseObject);
    for (const name of Object.keys(described.headers ?? {}))
      if (!response.headers.has(name)) throw new Error(`${what} has no header ${name}`);
    seen.add(what);
    if (!described.content) return;
    const type = response.headers.get('content-type')?.split(';')[0] ?? '';
    if (!(type in described.content)) throw new Error(`${what} is of type ${type}`);
    if (type !== 'application/json') return;
    const pointer = shared
      ? ['components', 'responses', shared]
      : ['paths', path, method, 'responses', httpStatus];
    expectValid(compile(...pointer, 'content', type, 'schema'), response.body, what);
  }

  const checkShared = (name: string, body: unknown) =>
    expectValid(
      compile('components', 'responses', name, 'content', 'application/json', 'schema'),
      body,
      name,
    );

  /** Throws unless the document has it. */
  function checkReceived(name: string, { method, headers, notification }: Received): void {
    const pointer = ['webhooks', name, method.toLowerCase()];
    const operation = document.webhooks[name]!.post!;
    operation.parameters!.forEach((parameter, index) => {
      const validate = compile(...pointer, 'parameters', String(index), 'schema');
      expectValid(validate, headers[parameter.name.toLowerCase()], `${name} ${parameter.name}`);
    });
    const body = compile(...pointer, 'requestBody', 'content', 'application/json', 'schema');
    expectValid(body, notification, name);
  }

  return { operations, seen, check, checkShared, checkReceived };
}
