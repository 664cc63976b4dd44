import type { Content, JsonSchema, Operation } from '../openapi/types.js';
import { html, type Html } from './html.js';
import { fieldTable, table } from './schema.js';

/** What stands beside each other: words and code. */
export const section = ({ operationId, summary }: Operation, endpoint: Html, parts: Html[]) =>
  html`<article id="${operationId}">
    <h3><a href="#${operationId}">${summary}</a></h3>
    <p class="endpoint">${endpoint}</p>
    <div class="columns">${parts}</div>
  </article>`;

export const code = (text: string): Html => html`<pre tabindex="0"><code>${text}</code></pre>`;

export const json = (value: unknown): Html => code(JSON.stringify(value, null, 2));

export const statusBadge = (httpStatus: string): Html =>
  html`<b class="status ${httpStatus.startsWith('2') ? 'good' : 'bad'}">${httpStatus}</b>`;

export function parameters({ parameters: all = [] }: Operation, title: string): Html | undefined {
  if (all.length === 0) return undefined;
  const fields = all.map(({ name, required, description, schema }) => ({
    path: name,
    optional: !required,
    schema: { ...schema, description },
  }));
  return html`<h4>${title}</h4>
    ${table(fields)}`;
}

export const jsonOf = (content: Content | undefined) => content?.['application/json'];

export function body(
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
