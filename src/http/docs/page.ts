import { createHash } from 'node:crypto';
import { failures, unexpected } from '../openapi/failures.js';
import type { Method, OpenApiDocument, Operation } from '../openapi/types.js';
import { html, phrase, prose, toText, trusted, code, json, statusBadge, type Html } from './html.js';
import { operationSection, webhookSection } from './operation.js';
import { anchorOf, fieldTable } from './schema.js';
import { style } from './style.js';

interface Entry {
  method: Method;
  path: string;
  operation: Operation;
}

/**
 * The document as one page that loads nothing and runs no script; the policy allows only its style. `baseUrl` is where
 * its commands send requests.
 */
export function renderDocs(
  document: OpenApiDocument,
  baseUrl: string,
): { page: string; contentSecurityPolicy: string } {
  return { page: toText(layout(document, baseUrl)), contentSecurityPolicy: policyFor(style) };
}

/** Allows this style and nothing else. */
export function policyFor(allowedStyle: string): string {
  const hash = createHash('sha256').update(allowedStyle).digest('base64');
  return `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

function layout(document: OpenApiDocument, baseUrl: string): Html {
  const { info, tags, paths, webhooks, components } = document;
  const entries = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): Entry => ({ method: method as Method, path, operation })),
  );
  const groups = tags.map((tag) => ({
    ...tag,
    entries: entries.filter(({ operation }) => operation.tags[0] === tag.name),
  }));
  const notifications = Object.values(webhooks).flatMap((item) => Object.values(item));
  return html`<!doctype html>
    <html lang="en">
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width" />
      <meta name="color-scheme" content="light dark" />
      <title>${info.title} API</title>
      ${trusted(`<style>${style}</style>`)}
      <nav aria-label="Contents">
        <ul>
          <li><a href="#start">Start</a></li>
          ${groups.map(({ name, entries: own }) => navGroup(name, operationsIn(own)))}
          ${navGroup('Notifications', notifications)}
          <li><a href="#failures">Failures</a></li>
          <li><a href="#schemas">Schemas</a></li>
        </ul>
      </nav>
      <main>
        ${start(document, baseUrl)}
        ${groups.map(
          ({ name, description, entries: own }) =>
            html`<section id="${name}">
              <h2>${name}</h2>
              <p>${phrase(description)}</p>
              ${own.map(({ method, path, operation }) => operationSection(method, path, operation, components))}
            </section>`,
        )}
        <section id="Notifications">
          <h2>Notifications</h2>
          <p>What your webhooks receive.</p>
          ${notifications.map((operation) => webhookSection(operation, components))}
        </section>
        ${failureSection(document)} ${schemaSection(document)}
      </main>
    </html>`;
}

const operationsIn = (entries: Entry[]) => entries.map(({ operation }) => operation);

const navGroup = (name: string, operations: Operation[]): Html =>
  html`<li>
    <a href="#${name}">${name}</a>
    <ul>
      ${operations.map(({ operationId, summary }) => html`<li><a href="#${operationId}">${summary}</a></li>`)}
    </ul>
  </li>`;

const start = ({ info }: OpenApiDocument, baseUrl: string): Html =>
  html`<section id="start">
    <h1>${info.title} <small>${info.version}</small></h1>
    ${prose(info.description)}
    <h4>The commands on this page require</h4>
    ${code(preparation(baseUrl))}
    <p>Click a command or an example to select all of it.</p>
    <p>
      For tools: this API as <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1), the notifications as
      <a href="/asyncapi.json">asyncapi.json</a> (AsyncAPI 3.0).
    </p>
    <p>
      How to receive notifications, with a kit for Node and Python:
      <a href="/docs/receiving">receiving notifications</a>.
    </p>
  </section>`;

/** Runs in any POSIX shell with curl. */
const preparation = (baseUrl: string) => `URL=${baseUrl}
KEY='your account key' EMAIL='your e-mail address' PASSWORD='your password'
TOKEN=$(curl -s "$URL/v1/login?key=$KEY" -u "$EMAIL:$PASSWORD" | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`;

/** Every failure; the operations link to these. */
function failureSection({ components }: OpenApiDocument): Html {
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
          <p>${phrase(description)} ${headers.length > 0 && html`Has <code>${headers.join()}</code>.`}</p>
          <details>
            <summary>Example</summary>
            ${json(components.responses[name]!.content!['application/json']!.example)}
          </details>
        </article>`,
    )}
  </section>`;
}

/** Every named schema. */
const schemaSection = ({ components: { schemas } }: OpenApiDocument): Html =>
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
