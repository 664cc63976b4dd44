import type { Request } from 'express';
import { scopesFor, type ProgramCaller, type Route } from '../../http/route.js';
import { isUuid } from '../../http/request/paging.js';
import { ApiError, insufficientScope, notFound } from '../../platform/errors.js';

/** Find the webhook that something belongs to; null if the shipper has no such thing. */
export interface WebhookOf {
  delivery(shipperId: string, deliveryId: string): Promise<string | null>;
  replay(shipperId: string, replayId: string): Promise<string | null>;
  name(shipperId: string, name: string): Promise<string | null>;
}

const usersOnly = () =>
  new ApiError(403, 'FORBIDDEN', 'No token of a program allows that: it takes a user who has logged in.');

/** A token for one webhook was used for something else. */
export const otherWebhook = ({ webhookId }: ProgramCaller) =>
  new ApiError(403, 'FORBIDDEN', `This token is for one webhook only: ${webhookId}.`);

/** The only place that decides what a program may do. */
export const authorizeProgram =
  (webhookOf: WebhookOf) =>
  async (spec: Route, request: Request, shipperId: string, program: ProgramCaller): Promise<void> => {
    const needed = scopesFor(spec);
    if (needed.length === 0) throw usersOnly();
    if (!needed.some((scope) => program.scopes.includes(scope)))
      throw insufficientScope('token', needed.join(' or '));
    if (program.webhookId === null || spec.narrows) return;
    if ((await webhookNamed(webhookOf, request, shipperId)) !== program.webhookId)
      throw otherWebhook(program);
  };

/** The webhook that the path names, or that what it names belongs to; null if it names neither. */
async function webhookNamed(
  webhookOf: WebhookOf,
  { params }: Request,
  shipperId: string,
): Promise<string | null> {
  const { webhookId, deliveryId, replayId, name } = params as Record<string, string | undefined>;
  if (webhookId !== undefined) return webhookId.toLowerCase();
  if (deliveryId !== undefined)
    return existing('This delivery', deliveryId, (id) => webhookOf.delivery(shipperId, id));
  if (replayId !== undefined)
    return existing('This replay', replayId, (id) => webhookOf.replay(shipperId, id));
  // A name that no webhook has would create another one.
  return name === undefined ? null : webhookOf.name(shipperId, name);
}

async function existing(
  what: string,
  given: string,
  find: (id: string) => Promise<string | null>,
): Promise<string> {
  const id = given.toLowerCase();
  const webhookId = isUuid(id) ? await find(id) : null;
  if (webhookId === null) throw notFound(what);
  return webhookId;
}
