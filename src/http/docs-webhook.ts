import { html, phrase, prose, type Html } from './docs-html.js';
import { body, code, jsonOf, parameters, section, statusBadge } from './docs-parts.js';
import type { OpenApiDocument, Operation } from './openapi-types.js';

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
