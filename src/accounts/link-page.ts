import express, { Router, type ErrorRequestHandler, type Request, type Response } from 'express';
import * as z from 'zod';
import { parametersOf } from '../http/openapi/document.js';
import { pageResponse, text } from '../http/openapi/page-operations.js';
import { exampleOf, type Operation, type Paths, type SchemaCollector } from '../http/openapi/schemas.js';
import { addressOf } from '../http/origin.js';
import { described } from '../http/request/fields.js';
import { sendPage } from '../http/pages.js';
import { methodNotAllowed } from '../platform/errors.js';
import { createGate } from '../platform/limits/gate.js';
import { linkTokenPattern, sha256 } from './credentials.js';

/** Title and body are HTML. */
interface PageContent {
  title: string;
  body: string;
  httpStatus?: number;
}

/** Texts are HTML. */
export interface LinkPage<Found> {
  path: string;
  title: string;
  /** Says how to get another link. */
  another: string;
  /** Null if the link is void. */
  find(tokenHash: Buffer): Promise<Found | null>;
  about(found: Found): string;
  fields?: string;
  button: string;
  /** Uses up the link. Null if it is void by now; a text is a problem, which is shown above the form. */
  submit(tokenHash: Buffer, found: Found, raw: RawSubmission): Promise<PageContent | string | null>;
}

interface RawSubmission {
  request: Request;
  response: Response;
}

/** These pages are public: lookups must not starve other database work. */
const lookups = { concurrency: 2, maxWaiting: 100, maxWaitMs: 1_000 };

export const linkToken = described(
  z.string().regex(linkTokenPattern),
  'Token of the link.',
  'Zm9yLXRoZS1kb2N1bWVudC1vbmx5LW5vdC1hLWxpbms',
);

export const formNotRead: PageContent = {
  title: 'Form not read',
  body: '<p>The form could not be read. Open the link again.</p>',
  httpStatus: 400,
};

const send = (response: Response, { title, body, httpStatus }: PageContent) =>
  sendPage(response, title, body, httpStatus);

/** A body that is not a form gets a page in response, not JSON. */
const unreadable: ErrorRequestHandler = (error: { status?: unknown }, _request, response, next) => {
  const { status } = error; // a number where Express could not read the body
  if (typeof status !== 'number' || status < 400 || status >= 500 || status === 413) return void next(error);
  send(response, formNotRead);
};

/** A page that a link opens. Its button acts, not the link: programs that check mails, or show previews, open links. */
export function linkPage<Found>(page: LinkPage<Found>): Router {
  const { path } = page;
  const router = Router();
  const gate = createGate(lookups);
  const find = async (given: unknown, request: Request) => {
    const token = linkToken.safeParse((given as Record<string, unknown> | undefined)?.token);
    if (!token.success) return null;
    const found = await gate.run(addressOf(request) ?? '', () => page.find(sha256(token.data)));
    return found && { token: token.data, found };
  };
  const isVoid = {
    title: 'Link not valid',
    body: `<p>This link has already been used or has expired. ${page.another}</p>`,
    httpStatus: 404,
  };
  // The token consists of [A-Za-z0-9_-], so it needs no escaping.
  const form = (token: string, found: Found, problem = '') => `${page.about(found)}
    ${problem && `<p class="problem" role="alert">${problem}</p>`}
    <form class="form" method="post" action="${path}">
      <input type="hidden" name="token" value="${token}">
      ${page.fields ?? ''}
      <button class="button primary">${page.button}</button>
    </form>`;
  router.get(path, async (request, response) => {
    const link = await find(request.query, request);
    send(response, link ? { title: page.title, body: form(link.token, link.found) } : isVoid);
  });
  router.post(
    path,
    express.urlencoded({ extended: false, limit: 4_096 }),
    express.json({ limit: 4_096 }),
    async (request, response) => {
      const link = await find(request.body, request);
      const done = link && (await page.submit(sha256(link.token), link.found, { request, response }));
      if (typeof done !== 'string') return send(response, done ?? isVoid);
      send(response, { title: page.title, body: form(link!.token, link!.found, done), httpStatus: 400 });
    },
  );
  router.use(path, unreadable);
  router.all(path, () => {
    throw methodNotAllowed('GET, HEAD, POST');
  });
  return router;
}

const html = text('text/html');

/** The paths of such a page in the OpenAPI document. */
export function linkPaths(schemas: SchemaCollector, { path, tag, form, show, submit }: LinkPageDocs): Paths {
  const schema = schemas.toJson(form, 'body');
  const body = { schema, example: exampleOf(schema, schemas.components) };
  const common = { tags: [tag] as [string], security: [] };
  const { done, refused, ...submission } = submit;
  const failures = {
    404: pageResponse('The link has already been used or has expired.', html),
    429: { $ref: '#/components/responses/TooManyRequests' },
    503: { $ref: '#/components/responses/Unavailable' },
  };
  return {
    [path]: {
      get: {
        ...common,
        ...show,
        parameters: parametersOf(z.object({ token: linkToken }), 'query', schemas),
        responses: { 200: pageResponse('The form.', html), ...failures },
      },
      post: {
        ...common,
        ...submission,
        requestBody: {
          required: true,
          content: { 'application/x-www-form-urlencoded': body, 'application/json': body },
        },
        responses: {
          200: pageResponse(done, html),
          400: pageResponse(refused, html),
          413: {
            $ref: '#/components/responses/PayloadTooLarge',
            description: 'The body is larger than 4 KiB.',
          },
          ...failures,
        },
      },
    },
  };
}

type About = Required<Pick<Operation, 'operationId' | 'summary' | 'description'>>;

interface LinkPageDocs {
  path: string;
  tag: string;
  form: z.ZodObject;
  show: About;
  /** `done` and `refused` describe the responses 200 and 400. */
  submit: About & { done: string; refused: string };
}
