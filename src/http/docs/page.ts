import { failures, unexpected } from '../openapi/responses.js';
import type { Method, OpenApiDocument, Operation } from '../openapi/types.js';
import { readBuilt, renderPage, type RenderedPage } from './frame.js';
import { html, phrase, prose, trusted, code, entry, json, statusBadge, type Html } from './html.js';
import { operationEntry, webhookEntry } from './operation.js';
import { anchorOf, fieldTable } from './schema.js';

/** Which states there are, and which may follow each. */
export interface States {
  initial: string;
  names: ReadonlySet<string>;
  next(from: string): string[];
}

interface Section {
  id: string;
  title: string;
  content: Html | Html[];
  /** The navigation lists them below the section. */
  operations?: Operation[];
}

const operatorTags = new Set(['Operator', 'Health']);

/** `/docs`: what a shipper's developer needs. `baseUrl` is where its commands send requests. */
export function renderDocs(document: OpenApiDocument, states: States, baseUrl: string): RenderedPage {
  const notifications = Object.values(document.webhooks).flatMap((item) => Object.values(item));
  return renderPage({
    path: '/docs',
    title: 'API',
    search: true,
    content: reference(document, [
      { id: 'start', title: 'Start', content: start(document, baseUrl) },
      ...groupSections(document, (tag) => !operatorTags.has(tag)),
      { id: 'states', title: 'States', content: statesOf(states) },
      {
        id: 'notifications',
        title: 'Notifications',
        operations: notifications,
        content: html`<p>
            Your webhooks receive these requests. <a href="/docs/receiving">Receiving notifications</a> says
            what a good receiver does.
          </p>
          ${notifications.map((operation) => webhookEntry(operation, document.components))}`,
      },
      { id: 'verify', title: 'Verify', content: trusted(readBuilt('verify.html')) },
    ]),
  });
}

/** `/docs/operator`: the operator's endpoints and health. */
export function renderOperatorDocs(document: OpenApiDocument, baseUrl: string): RenderedPage {
  return renderPage({
    path: '/docs/operator',
    title: 'Operator',
    search: true,
    content: reference(document, [
      { id: 'start', title: 'Start', content: operatorStart(document, baseUrl) },
      ...groupSections(document, (tag) => operatorTags.has(tag)),
    ]),
  });
}

/** A section for each of the tags, with its operations. */
const groupSections = (
  { tags, paths, components }: OpenApiDocument,
  isShown: (tag: string) => boolean,
): Section[] =>
  tags
    .filter(({ name }) => isShown(name))
    .map(({ name, description }) => {
      const operations = Object.entries(paths).flatMap(([path, item]) =>
        Object.entries(item)
          .filter(([, operation]) => operation.tags[0] === name)
          .map(([method, operation]) => ({ method: method as Method, path, operation })),
      );
      return {
        id: name,
        title: name,
        operations: operations.map(({ operation }) => operation),
        content: html`<p>${phrase(description)}</p>
          ${operations.map(({ method, path, operation }) => operationEntry(method, path, operation, components))}`,
      };
    });

/** The sections, and after them the failures and the schemas of their operations. */
const reference = (document: OpenApiDocument, sections: Section[]): Html =>
  layout([
    ...sections,
    ...referenceSections(
      document,
      sections.flatMap(({ operations = [] }) => operations),
    ),
  ]);

/** The first section has the page's own heading. */
const layout = (sections: Section[]): Html =>
  html`<nav class="contents" aria-label="Contents">
      <ul>
        ${sections.map(
          ({ id, title, operations = [] }) =>
            html`<li>
              <a href="#${id}">${title}</a>
              ${
                operations.length > 0 &&
                html`<ul>
                  ${operations.map(
                    ({ operationId, summary }) => html`<li><a href="#${operationId}">${summary}</a></li>`,
                  )}
                </ul>`
              }
            </li>`,
        )}
      </ul>
    </nav>
    <main>
      ${sections.map(
        ({ id, title, content }, index) =>
          html`<section id="${id}">${index > 0 && html`<h2>${title}</h2>`} ${content}</section>`,
      )}
    </main>`;

const start = ({ info }: OpenApiDocument, baseUrl: string): Html =>
  html`<h1>${info.title} API <small>${info.version}</small></h1>
    ${prose(info.description)}
    <p id="logging-in">Every command on this page needs these variables:</p>
    ${code(preparation(baseUrl))}
    <p>
      Some need an id from a response of yours: <code>TRACKING_ID</code> from
      <a href="#integrateOrder">an order</a>, <code>WEBHOOK_ID</code> from
      <a href="#createWebhook">a webhook</a>, <code>DELIVERY_ID</code> from
      <a href="#listDeliveries">the deliveries</a>, <code>REPLAY_ID</code> from
      <a href="#replayWebhook">a replay</a>.
    </p>
    <p>Click a command or an example to select all of it.</p>
    <p>
      For tools: this API as <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1), the notifications as
      <a href="/asyncapi.json">asyncapi.json</a> (AsyncAPI 3.0).
    </p>`;

/** Runs in any POSIX shell with curl. */
const preparation = (baseUrl: string) => `URL=${baseUrl}
KEY='your account key' EMAIL='your e-mail address' PASSWORD='your password'
${logInCommand('"$EMAIL:$PASSWORD"')}`;

const operatorStart = ({ info }: OpenApiDocument, baseUrl: string): Html =>
  html`<h1>${info.title} for the operator <small>${info.version}</small></h1>
    <p>
      These endpoints are for the team that runs the service. Shippers use the <a href="/docs">API</a>; both
      follow the same conventions. The <a href="/docs/runbook">runbook</a> says what to do when an alert
      fires.
    </p>
    <p>The commands on this page need these variables:</p>
    ${code(`URL=${baseUrl} OPERATOR_TOKEN='your operator token'`)}
    <p>
      Some need an id: <code>SHIPPER_ID</code> from <a href="#listShippers">the shippers</a>,
      <code>USER_ID</code> from <a href="#listUsers">a shipper's users</a>; <code>TRACKING_ID</code>,
      <code>DELIVERY_ID</code> or <code>REPLAY_ID</code> from the shipper.
    </p>
    <p><code>parcelhook operator --help</code> shows the same operations as a command line.</p>
    <p>For tools: the whole API as <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>`;

const statesOf = ({ initial, names, next }: States): Html =>
  html`<p>A shipment starts as <code>${initial}</code>. The table shows which states can follow each one.</p>
    <table>
      <thead>
        <tr>
          <th scope="col">State</th>
          <th scope="col">Can be followed by</th>
        </tr>
      </thead>
      <tbody>
        ${[...names].map(
          (name) =>
            html`<tr>
              <th scope="row"><code>${name}</code></th>
              <td>
                ${next(name).map((following) => html`<code>${following}</code> `)}${next(name).length === 0 && 'none: this state is final'}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>`;

type Components = OpenApiDocument['components'];

/** The schemas that a value refers to, by itself or through others. */
function schemasIn(value: unknown, schemas: Components['schemas'], found: Set<string>): Set<string> {
  for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (found.has(name!)) continue;
    found.add(name!);
    schemasIn(schemas[name!], schemas, found);
  }
  return found;
}

/** Every failure, and the schemas that the page's operations refer to. */
function referenceSections({ components }: OpenApiDocument, operations: Operation[]): Section[] {
  const shown = schemasIn(operations, components.schemas, new Set(['Failure']));
  const all = [...Object.entries(failures), ['other', unexpected] as const];
  const failure = components.schemas.Failure!;
  return [
    {
      id: 'failures',
      title: 'Failures',
      content: html`<p>${phrase(failure.description ?? '')}</p>
        ${fieldTable(failure, components.schemas)}
        ${all.map(([httpStatus, { name, code: status, description, headers = [] }]) =>
          entry(
            name,
            html`${statusBadge(httpStatus)}
              <h3>${status}</h3>`,
            html`<p>
                ${phrase(description)}
                ${headers.length > 0 && html`The response has the header <code>${headers.join()}</code>.`}
              </p>
              ${json(components.responses[name]!.content!['application/json']!.example)}`,
          ),
        )}`,
    },
    {
      id: 'schemas',
      title: 'Schemas',
      content: Object.entries(components.schemas)
        .filter(([name]) => shown.has(name))
        .map(([name, schema]) =>
          entry(
            anchorOf(name),
            html`<h3>${name}</h3>`,
            html`<p>${phrase(schema.description ?? '')}</p>
              ${fieldTable(schema, components.schemas)}`,
          ),
        ),
    },
  ];
}

const logInCommand = (user: string) =>
  `TOKEN=$(curl -fsS "$URL/v1/login?key=$KEY" -u ${user} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`;
