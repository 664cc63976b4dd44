import { nameOf } from '../openapi/schemas.js';
import type {
  Content,
  JsonSchema,
  Method,
  OpenApiDocument,
  Operation,
  Reference,
  ResponseObject,
} from '../openapi/types.js';
import { html, phrase, prose, code, entry, json, statusBadge, type Html } from './html.js';
import { fieldTable, table } from './schema.js';

type Components = OpenApiDocument['components'];

/** An endpoint: its description, parameters and responses beside a command and an example. */
export const operationEntry = (
  method: Method,
  path: string,
  operation: Operation,
  components: Components,
): Html =>
  details(operation, method, html`<code>${path}</code>`, [
    html`<div class="words">
      ${prose(operation.description ?? '')} ${needs(operation)} ${parameters(operation, 'Parameters')}
      ${body(operation, components)} ${responseList(operation, components)}
    </div>`,
    html`<div class="code">
      <h4>Request</h4>
      ${code(curlOf(method, path, operation))} ${exampleResponse(operation)}
    </div>`,
  ]);

/** A request that a receiver gets. */
export const webhookEntry = (operation: Operation, components: OpenApiDocument['components']): Html =>
  details(operation, 'post', html`<span>to the <code>targetAddress</code> of your webhook</span>`, [
    html`<div class="words">
      ${prose(operation.description ?? '')} ${parameters(operation, 'Headers')} ${body(operation, components)}
      <h4>Your response</h4>
      ${Object.entries(operation.responses).map(
        ([httpStatus, { description = '' }]) =>
          html`<p>${statusBadge(httpStatus)} ${phrase(description)}</p>`,
      )}
    </div>`,
    html`<div class="code">
      <h4>Request</h4>
      ${code(webhookExample(operation))}
    </div>`,
  ]);

const webhookExample = ({ parameters: headers = [], requestBody }: Operation): string =>
  [
    'POST /hooks/parcelhook HTTP/1.1',
    'Content-Type: application/json',
    ...headers.map(({ name, example }) => `${name}: ${String(example)}`),
    '',
    JSON.stringify(jsonOf(requestBody?.content)?.example, null, 2),
  ].join('\n');

const proofs: Record<string, string> = {
  accountKey: 'an account key',
  credentials: 'an e-mail address with its password',
  accessToken: 'an access token',
  operatorToken: 'an operator token',
};

const needs = ({ security }: Operation): Html =>
  html`<p class="needs">
    Requires
    ${
      Object.keys(security[0] ?? {})
        .map((scheme) => proofs[scheme])
        .join(' and ') || 'no credentials'
    }
  </p>`;

function responseList({ responses }: Operation, components: Components): Html {
  const all = Object.entries(responses);
  const own = all.filter(([, response]) => !('$ref' in response)) as [string, ResponseObject][];
  const shared = all.filter(([, response]) => '$ref' in response) as [string, Reference][];
  return html`<h4>Responses</h4>
    ${own.map(([httpStatus, response]) => responseOf(httpStatus, response, components))}
    ${
      shared.length > 0 &&
      html`<details>
        <summary>Failures</summary>
        <ul>
          ${shared.map(([httpStatus, reference]) => failure(httpStatus, reference, components))}
        </ul>
      </details>`
    }`;
}

function responseOf(
  httpStatus: string,
  { description, content }: ResponseObject,
  { schemas }: Components,
): Html {
  const schema = jsonOf(content)?.schema;
  const fields = schema && fieldTable(dataOf(schema), schemas);
  return html`<p>${statusBadge(httpStatus)} ${phrase(description)}</p>
    ${fields}`;
}

/** Only `data` differs between endpoints. */
const dataOf = (schema: JsonSchema): JsonSchema => schema.properties?.data ?? schema;

const failure = (httpStatus: string, { $ref, description }: Reference, { responses }: Components): Html =>
  html`<li>
    <a href="#${nameOf($ref)}">${statusBadge(httpStatus)}</a>
    ${phrase(description ?? responses[nameOf($ref)]!.description)}
  </li>`;

function exampleResponse({ responses }: Operation): Html | undefined {
  for (const [httpStatus, response] of Object.entries(responses)) {
    const example = 'content' in response && jsonOf(response.content)?.example;
    if (example)
      return html`<h4>Response ${httpStatus}</h4>
        ${json(example)}`;
  }
  return undefined;
}

/** curl options by security scheme. */
const curlOptions: Record<string, string> = {
  credentials: '-u "$EMAIL:$PASSWORD"',
  accessToken: '-H "Authorization: Bearer $TOKEN"',
  operatorToken: '-H "Authorization: Bearer $OPERATOR_TOKEN"',
};

/** A command for a POSIX shell with URL, and KEY and TOKEN or OPERATOR_TOKEN where needed, set. An id is a variable, too. */
export function curlOf(method: Method, path: string, operation: Operation): string {
  const schemes = Object.keys(operation.security[0] ?? {});
  const body = operation.requestBody?.content['application/json'];
  // An operator's read is of one shipper, whether it needs that or not.
  const needed = (operation.parameters ?? []).filter(
    ({ required, in: place, name }) => required || (place === 'query' && name === 'shipperId'),
  );
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${variableOf(name)}`);
  const query = [
    ...(schemes.includes('accountKey') ? ['key=$KEY'] : []),
    ...needed.flatMap(({ in: place, name, example }) =>
      place === 'query' ? [`${name}=${name.endsWith('Id') ? `$${variableOf(name)}` : String(example)}`] : [],
    ),
  ];
  const impliedMethod = body ? 'post' : 'get';
  return [
    `curl "$URL${filled}${query.length > 0 ? `?${query.join('&')}` : ''}"`,
    ...(method === impliedMethod ? [] : [`-X ${method.toUpperCase()}`]),
    ...schemes.flatMap((scheme) => curlOptions[scheme] ?? []),
    ...needed.flatMap(({ in: place, name, example }) =>
      place === 'header' ? [`-H ${shellQuoted(`${name}: ${String(example)}`)}`] : [],
    ),
    ...(body
      ? ["-H 'Content-Type: application/json'", `-d ${shellQuoted(JSON.stringify(body.example, null, 2))}`]
      : []),
  ].join(' \\\n  ');
}

/** `trackingId` is `TRACKING_ID`. */
const variableOf = (name: string) => name.replaceAll(/[A-Z]/g, '_$&').toUpperCase();

/** Prose and code side by side. */
const details = ({ operationId, summary }: Operation, method: Method, address: Html, parts: Html[]): Html =>
  entry(
    operationId,
    html`<b class="method ${method}">${method}</b>
      <h3>${summary}</h3>
      ${address}`,
    html`<div class="columns">${parts}</div>`,
  );

function parameters({ parameters: all = [] }: Operation, title: string): Html | undefined {
  if (all.length === 0) return undefined;
  const fields = all.map(({ name, required, description, schema }) => ({
    path: name,
    optional: !required,
    schema: { ...schema, description },
  }));
  return html`<h4>${title}</h4>
    ${table(fields)}`;
}

const jsonOf = (content: Content | undefined) => content?.['application/json'];

function body(
  { requestBody }: Operation,
  { schemas }: { schemas: Record<string, JsonSchema> },
): Html | undefined {
  const content = jsonOf(requestBody?.content);
  return (
    content &&
    html`<h4>Body</h4>
      ${fieldTable(content.schema, schemas)}`
  );
}

const shellQuoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
