import { failures, unexpected } from '../openapi/failures.js';
import type { OpenApiDocument } from '../openapi/types.js';
import { html, phrase, type Html } from './html.js';
import { json, statusBadge } from './parts.js';
import { anchorOf, fieldTable } from './schema.js';

/** Every failure, which the operations only name. */
export function failureSection({ components }: OpenApiDocument): Html {
  const all = [...Object.entries(failures), ['other', unexpected] as const];
  const schema = components.schemas.Failure!;
  return html`<section id="failures">
    <h2>Failures</h2>
    <p>${phrase(schema.description ?? '')}</p>
    ${fieldTable(schema, components.schemas)}
    ${all.map(
      ([httpStatus, { name, code: status, description, headers = [] }]) =>
        html`<article id="${name}">
          <h3>${statusBadge(httpStatus)} <a href="#${name}">${status}</a></h3>
          <p>${phrase(description)} ${headers.length > 0 && html`Bears <code>${headers.join()}</code>.`}</p>
          <details>
            <summary>Example</summary>
            ${json(components.responses[name]!.content!['application/json']!.example)}
          </details>
        </article>`,
    )}
  </section>`;
}

/** Every named schema. */
export const schemaSection = ({ components: { schemas } }: OpenApiDocument): Html =>
  html`<section id="schemas">
    <h2>Schemas</h2>
    ${Object.entries(schemas).map(
      ([name, schema]) =>
        html`<article id="${anchorOf(name)}">
          <h3><a href="#${anchorOf(name)}">${name}</a></h3>
          <p>${phrase(schema.description ?? '')}</p>
          ${fieldTable(schema, schemas)}
        </article>`,
    )}
  </section>`;
