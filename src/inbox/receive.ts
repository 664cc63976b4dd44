import { Router, type Request, type RequestHandler, type Response } from 'express';
import type { BodyBytes } from '../http/request/body-bytes.js';
import { readBytes } from '../http/request/body.js';
import { markAnswered, whileReading } from '../http/request/watch.js';
import { ApiError } from '../platform/errors.js';
import { newId } from '../platform/ids.js';
import { masked } from '../webhooks/sealing/sealing.js';
import { inboxPath, type InboxAddresses } from './addresses.js';
import type { Answer, Boxes } from './boxes.js';
import { problemOf } from './verify.js';

export interface ReceivingDependencies {
  addresses: InboxAddresses;
  boxes: Boxes;
  /** Of the shipper's webhooks whose target address has this path. */
  secretsOf(shipperId: string, path: string): Promise<string[]>;
  bodyBytes: BodyBytes;
  /** Longer than an attempt may take: a time-out is ended by the sender, and by this if it is not. */
  maxHoldMs: number;
}

export interface InboxReceiver {
  handler: RequestHandler;
  /** Breaks off the requests that wait for their time-out. */
  endHolds(): void;
}

const maxBodyBytes = 64 * 1024;
/** Requests that wait for their time-out; further ones are answered 503. */
const maxHolds = 20;

/** Takes notifications at the addresses of inboxes. Every other request goes on to the next handler. */
export function createInboxReceiver(deps: ReceivingDependencies): InboxReceiver {
  const { addresses, boxes } = deps;
  const held = new Set<Response>();
  const hold = (response: Response) => {
    if (response.destroyed) return; // it has been closed: nothing would end the hold
    held.add(response);
    const timer = setTimeout(() => response.destroy(), deps.maxHoldMs);
    response.once('close', () => {
      clearTimeout(timer);
      held.delete(response);
    });
  };
  const answer = (answered: Answer, request: Request, response: Response) => {
    if (answered === 'RESET') request.socket.resetAndDestroy();
    else if (answered === 'TIMEOUT') hold(response);
    else response.status(Number(answered)).json({ inbox: answered });
    markAnswered(response);
  };
  const router = Router({ caseSensitive: true });
  router.post(`${inboxPath}:token`, async (request: Request<{ token: string }>, response, next) => {
    const shipperId = addresses.shipperOf(request.params.token);
    if (shipperId === null) return next();
    response.locals.slowByDesign = true;
    const { headers } = request;
    const body = await whileReading(response, () => readAtMost(deps.bodyBytes, shipperId, request, response));
    const secrets = await deps.secretsOf(shipperId, request.path);
    const receivedAt = new Date();
    const problem = problemOf({ headers, body }, secrets, receivedAt.getTime());
    const wanted = boxes.nextAnswer(shipperId);
    const answered = wanted === 'TIMEOUT' && held.size >= maxHolds ? '503' : wanted;
    boxes.add(shipperId, {
      itemId: newId(receivedAt.getTime()),
      receivedAt,
      headers: shown(headers),
      body,
      problem,
      answered,
    });
    answer(answered, request, response);
  });
  return {
    handler: router,
    endHolds: () => {
      for (const response of held) response.destroy();
    },
  };
}

async function readAtMost(
  bodyBytes: BodyBytes,
  shipperId: string,
  request: Request<{ token: string }>,
  response: Response,
): Promise<string> {
  const count = bodyBytes(shipperId, response);
  let length = 0;
  const bytes = await readBytes(request, (more) => {
    count(more);
    length += more;
    if (length > maxBodyBytes)
      throw new ApiError(413, 'PAYLOAD_TOO_LARGE', `The inbox takes at most ${maxBodyBytes} bytes.`);
  });
  return bytes.toString();
}

const known =
  /^(webhook-|parcelhook-)|^(accept|connection|content-type|content-length|host|traceparent|user-agent)$/;

/** A webhook's own headers may be secrets, which no response shows. */
const shown = (headers: Request['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, known.test(name) ? String(value) : masked]),
  );
