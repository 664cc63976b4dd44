import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { OpenApiDocument, Operation, ResponseObject } from '../../src/http/openapi/types.js';
import type { Answer } from '../client.js';
import type { Received } from '../receiver.js';

export interface Described {
  method: string;
  /** As in the document: `/v1/webhooks/{webhookId}`. */
  path: string;
  operation: Operation;
}

/** Every operation of the document by its id. */
export const operationsOf = (document: OpenApiDocument): Map<string, Described> =>
  new Map(
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => [operation.operationId, { method, path, operation }]),
    ),
  );

/** Compiles schemas of the document by their JSON pointer. */
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

/** Throws with what is wrong where `value` is not of the schema. */
export function expectValid(validate: ValidateFunction, value: unknown, what: string): void {
  if (validate(value)) return;
  const problems = validate.errors!.map(({ instancePath, message, params }) =>
    [instancePath, message, JSON.stringify(params)].join(' '),
  );
  throw new Error(`${what}: ${problems.join('; ')} in ${JSON.stringify(value)}`);
}

/** A copy whose objects have their documented fields only: an answer with another fails. */
export function closed<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(closed) as T;
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const isObject = copy.type === 'object' && typeof copy.properties === 'object';
  return (
    isObject && !('additionalProperties' in copy) ? { ...copy, additionalProperties: false } : copy
  ) as T;
}

/** Holds real answers to the document and remembers which were seen. */
export function answerChecker(document: OpenApiDocument) {
  const operations = operationsOf(document);
  const compile = schemaCompiler(closed(document));
  const seen = new Set<string>();

  /** Throws where the document does not promise this answer to this operation. */
  function check(operationId: string, answer: Answer): void {
    const { method, path, operation } = operations.get(operationId)!;
    const httpStatus = String(answer.httpStatus);
    const what = `${operationId} ${httpStatus}`;
    const own = operation.responses[httpStatus];
    if (!own) throw new Error(`${what} is not in the document: ${JSON.stringify(answer.body)}`);
    const shared = '$ref' in own ? own.$ref.split('/').at(-1)! : undefined;
    const response = shared ? document.components.responses[shared]! : (own as ResponseObject);
    for (const name of Object.keys(response.headers ?? {}))
      if (!answer.headers.has(name)) throw new Error(`${what} has no header ${name}`);
    seen.add(what);
    if (!response.content) return;
    const type = answer.headers.get('content-type')?.split(';')[0] ?? '';
    if (!(type in response.content)) throw new Error(`${what} is of type ${type}`);
    if (type !== 'application/json') return;
    const pointer = shared
      ? ['components', 'responses', shared]
      : ['paths', path, method, 'responses', httpStatus];
    expectValid(compile(...pointer, 'content', type, 'schema'), answer.body, what);
  }

  /** Throws where the body is not of a response that no operation can name. */
  const checkShared = (name: string, body: unknown) =>
    expectValid(
      compile('components', 'responses', name, 'content', 'application/json', 'schema'),
      body,
      name,
    );

  /** Throws where the document does not promise receivers such a request. */
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
