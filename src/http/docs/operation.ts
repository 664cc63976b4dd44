import { nameOf } from '../openapi/schemas.js';
import type {
  JsonSchema,
  Method,
  OpenApiDocument,
  Operation,
  Reference,
  ResponseObject,
} from '../openapi/types.js';
import { curlOf } from './curl.js';
import { html, phrase, prose, type Html } from './html.js';
import { body, code, json, jsonOf, parameters, section, statusBadge } from './parts.js';
import { fieldTable } from './schema.js';

type Components = OpenApiDocument['components'];

/** An endpoint: what it does and takes and answers beside a command and an example. */
export const operationSection = (
  method: Method,
  path: string,
  operation: Operation,
  components: Components,
): Html =>
  section(operation, html`<b class="method ${method}">${method}</b> <code>${path}</code>`, [
    html`<div class="words">
      ${prose(operation.description ?? '')} ${needs(operation)} ${parameters(operation, 'Parameters')}
      ${body(operation, components)} ${answers(operation, components)}
    </div>`,
    html`<div class="code">
      <h4>Request</h4>
      ${code(curlOf(method, path, operation))} ${exampleAnswer(operation)}
    </div>`,
  ]);

/** What a receiver gets. */
export const webhookSection = (operation: Operation, components: OpenApiDocument['components']): Html =>
  section(
    operation,
    html`<b class="method post">post</b> to the <code>targetAddress</code> of your webhook`,
    [
      html`<div class="words">
        ${prose(operation.description ?? '')} ${parameters(operation, 'Headers')}
        ${body(operation, components)}
        <h4>Your answer</h4>
        ${Object.entries(operation.responses).map(
          ([httpStatus, { description = '' }]) =>
            html`<p>${statusBadge(httpStatus)} ${phrase(description)}</p>`,
        )}
      </div>`,
      html`<div class="code">
        <h4>Request</h4>
        ${code(webhookExample(operation))}
      </div>`,
    ],
  );

const webhookExample = ({ parameters: headers = [], requestBody }: Operation): string =>
  [
    'POST /hooks/parcelhook HTTP/1.1',
    'Content-Type: application/json',
    ...headers.map(({ name, example }) => `${name}: ${String(example)}`),
    '',
    JSON.stringify(jsonOf(requestBody?.content)?.example, null, 2),
  ].join('\n');

const proofs: Record<string, string> = {
  accountKey: 'account key',
  credentials: 'e-mail address and password',
  accessToken: 'access token',
  operatorToken: 'operator token',
};

const needs = ({ security }: Operation): Html =>
  html`<p class="needs">
    Needs
    ${
      Object.keys(security[0] ?? {})
        .map((scheme) => proofs[scheme])
        .join(' and ') || 'nothing'
    }
  </p>`;

function answers({ responses }: Operation, components: Components): Html {
  const all = Object.entries(responses);
  const own = all.filter(([, response]) => !('$ref' in response)) as [string, ResponseObject][];
  const shared = all.filter(([, response]) => '$ref' in response) as [string, Reference][];
  return html`<h4>Answers</h4>
    ${own.map(([httpStatus, response]) => answer(httpStatus, response, components))}
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

function answer(httpStatus: string, { description, content }: ResponseObject, { schemas }: Components): Html {
  const schema = jsonOf(content)?.schema;
  const fields = schema && fieldTable(dataOf(schema), schemas);
  return html`<p>${statusBadge(httpStatus)} ${phrase(description)}</p>
    ${fields}`;
}

/** Of the envelope only `data` differs from one endpoint to the next. */
const dataOf = (schema: JsonSchema): JsonSchema => schema.properties?.data ?? schema;

const failure = (httpStatus: string, { $ref, description }: Reference, { responses }: Components): Html =>
  html`<li>
    <a href="#${nameOf($ref)}">${statusBadge(httpStatus)}</a>
    ${phrase(description ?? responses[nameOf($ref)]!.description)}
  </li>`;

function exampleAnswer({ responses }: Operation): Html | undefined {
  for (const [httpStatus, response] of Object.entries(responses)) {
    const example = 'content' in response && jsonOf(response.content)?.example;
    if (example)
      return html`<h4>Answer ${httpStatus}</h4>
        ${json(example)}`;
  }
  return undefined;
}
