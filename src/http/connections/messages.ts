import type { Express } from 'express';
import { IncomingMessage, ServerResponse, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** An app of Express, or any other that answers requests. */
export type App = RequestListener & Partial<Pick<Express, 'request' | 'response'>>;

/**
 * What the server makes its messages by. Express changes the prototypes of each request and response, which gives each
 * a hidden class of its own: 2 kB of them, and no access to a property is fast. Messages made here have the prototypes
 * of the app that answers from the start, so that nothing changes. `use` tells which app that is.
 */
export function createMessages(first: App) {
  let { Request, Response } = classesOf(first);
  return {
    use: (app: App) => void ({ Request, Response } = classesOf(app)),
    IncomingMessage: function (socket: Socket) {
      return new Request(socket);
    } as unknown as typeof IncomingMessage,
    ServerResponse: function (...given: ConstructorParameters<typeof ServerResponse>) {
      return new Response(...given);
    } as unknown as typeof ServerResponse,
  };
}

function classesOf(app: App) {
  class Request extends IncomingMessage {}
  class Response extends ServerResponse {}
  if (app.request) app.request = Object.setPrototypeOf(Request.prototype, app.request) as Express['request'];
  if (app.response)
    app.response = Object.setPrototypeOf(Response.prototype, app.response) as Express['response'];
  return { Request, Response };
}
