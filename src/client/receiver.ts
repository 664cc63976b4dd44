import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EventQuery, FeedEvent, Notice, Notification } from './api/types.js';
import type { Client } from './client.js';
import { isTransient, ParcelhookError } from './errors.js';
import { createSerializer } from './receiving/memory-store.js';
import { isDue, type ReceivedEvent, type ReceiverStore } from './receiving/store.js';
import { headerValues } from './request-headers.js';
import { verify, type VerifyOptions } from './signature.js';

export interface NotificationContext<Transaction = undefined> {
  /** `webhook-id`, the same in every copy. */
  eventId: string;
  /** Its number within its shipment, from 1; null if the request did not say. */
  sequence: number | null;
  /** The sequences before this one that did not come and were not found in the feed; null if none is missing. */
  missing: { from: number; to: number } | null;
  /** `FEED` if it was missing and was fetched. */
  source: 'REQUEST' | 'FEED';
  /**
   * The store's transaction: what is written with it is committed together with the mark that this event was handled.
   */
  transaction: Transaction;
}

interface BodyLimits {
  maxBodyBytes: number;
  bodyTimeoutMs: number;
}

export interface ReceiverOptions<Transaction = undefined> extends Partial<BodyLimits> {
  /** During a rotation, both. */
  secret: string | readonly string[];
  store: ReceiverStore<Transaction>;
  /**
   * Handles one state of a shipment. A shipment's states come one at a time, in order, each once; the response waits for
   * it, at most 15 s. If it rejects, the response is 500, and the notification comes again.
   */
  onNotification(notification: Notification, context: NotificationContext<Transaction>): unknown;
  /** Another webhook of yours fails, recovers or is disabled. Without it, notices are accepted and ignored. */
  onNotice?(notice: Notice, context: NotificationContext<Transaction>): unknown;
  /** Gets what `POST /v1/webhooks/{webhookId}/test` sends. Without it, tests are accepted and ignored. */
  onTest?(notification: Notification): unknown;
  /** Fetches missing states from the feed. Without it, they are only reported in the context. */
  client?: Pick<Client, 'events'> | undefined;
  /** The states that your webhook is interested in, if not all: others are not fetched. */
  interests?: readonly string[] | undefined;
  /** Default: `console.error`. It gets errors of your functions, of the store and of the feed. */
  onError?(error: unknown): void;
  /** Default: 300. */
  toleranceSeconds?: VerifyOptions['toleranceSeconds'];
}

/** A handler for express, and for `http.createServer`. It never rejects. */
export interface ReceiverHandler {
  (request: IncomingMessage, response: ServerResponse): Promise<void>;
  /**
   * Reads the feed from a time on, handles every event that was missed, and returns how many: also those that no later
   * notification shows to be missing. Call it at the start and now and then, from a while before the last call. It
   * needs `client`, and rejects with what the feed, the store or `onNotification` throws.
   */
  reconcile(from: Date): Promise<number>;
}

/** The feed may be late. From this attempt on, some minutes later, nothing is awaited from it. */
const attemptsForFeed = 3;
const pageSize = 250;
/** Enough for any journey: 2,500 events of a shipment. */
const maxPages = 10;
/** An event is in the feed at most half a second after its commit. */
const feedWait = '2s';
/** The service waits 15 s for the response to its notification. */
const feedLimits = { totalTimeoutMs: 10_000 };

/** The service's test belongs to no shipment. */
const testTrackingId = 'TEST';

/**
 * A request handler for notifications: it verifies, handles each event once and a shipment's in order, and responds. It
 * reads the body itself, at most `maxBodyBytes` (1 MiB) within `bodyTimeoutMs` (10 s): put no body parser before it but
 * express.raw(). Throws TypeError for a missing option.
 */
export function receiver<Transaction = undefined>(options: ReceiverOptions<Transaction>): ReceiverHandler {
  const { secret, onError = console.error, toleranceSeconds } = options;
  if (secret.length === 0 || [secret].flat().includes('')) throw new TypeError('secret is missing or empty.');
  if (typeof options.onNotification !== 'function') throw new TypeError('onNotification is missing.');
  const limits = {
    maxBodyBytes: options.maxBodyBytes ?? 1_048_576,
    bodyTimeoutMs: options.bodyTimeoutMs ?? 10_000,
  };
  const { handle, reconcile } = createHandler(options);

  async function outcomeOf(request: IncomingMessage): Promise<Outcome | null> {
    if (request.method !== 'POST') return [405, 'Only POST is accepted.'];
    const body = await readBody(request, limits);
    if (typeof body === 'string') return body === 'GONE' ? null : bodyOutcomes[body];
    let content: Notification | Notice;
    try {
      content = verify(request.headers, body, secret, { toleranceSeconds });
    } catch (error) {
      if (error instanceof ParcelhookError) return [400, error.message];
      throw error;
    }
    await handle(content, request);
    return [204, ''];
  }

  const respondTo = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const outcome = await outcomeOf(request).catch((error: unknown): Outcome => {
      onError(error);
      return [500, 'The notification was not handled.'];
    });
    if (outcome === bodyOutcomes.CONSUMED) onError(new Error(outcome[1]));
    if (outcome && !response.headersSent && !response.destroyed) respond(response, outcome);
  };
  return Object.assign(respondTo, { reconcile });
}

type Outcome = [status: number, text: string];

const bodyOutcomes: Record<'CONSUMED' | 'TOO_LARGE' | 'TOO_SLOW', Outcome> = {
  CONSUMED: [
    500,
    'Something read the body before the receiver: register it before any body parser, such as express.json().',
  ],
  TOO_LARGE: [413, 'The body is too large.'],
  TOO_SLOW: [408, 'The body did not arrive in time.'],
};

function respond(response: ServerResponse, [status, text]: Outcome): void {
  const headers = {
    ...(text && { 'content-type': 'text/plain; charset=utf-8' }),
    ...(status === 405 && { allow: 'POST' }),
    // The rest of the body is not awaited.
    ...((status === 413 || status === 408) && { connection: 'close' }),
  };
  response.writeHead(status, headers).end(text);
}

type BodyOutcome =
  | Buffer
  | 'CONSUMED'
  | 'TOO_LARGE'
  | 'TOO_SLOW'
  | /** The sender has gone: nobody waits for a response. */ 'GONE';

/** The bytes of the body as they arrived, be it from the request or from express.raw(). */
function readBody(
  request: IncomingMessage & { body?: unknown },
  { maxBodyBytes, bodyTimeoutMs }: BodyLimits,
): Promise<BodyOutcome> {
  if (request.body instanceof Uint8Array) return Promise.resolve(Buffer.from(request.body));
  if (request.readableDidRead || request.readableEnded) return Promise.resolve('CONSUMED');
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    const end = (outcome: BodyOutcome) => {
      clearTimeout(timer);
      request.off('data', onData).resume();
      resolve(outcome);
    };
    const timer = setTimeout(() => end('TOO_SLOW'), bodyTimeoutMs);
    const onData = (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBodyBytes) end('TOO_LARGE');
      else chunks.push(chunk);
    };
    request
      .on('data', onData)
      .on('end', () => end(Buffer.concat(chunks)))
      .on('error', () => end('GONE'))
      .on('close', () => end('GONE'));
  });
}

function createHandler<Transaction>(options: ReceiverOptions<Transaction>) {
  const { store, client, onNotification, onNotice, onTest, onError = console.error } = options;
  const interests = options.interests && new Set(options.interests);
  const inOrder = createSerializer();

  /** The events of the feed up to this one. Null if there is no feed, or none that will ever have it. */
  async function fetched(event: ReceivedEvent, lastSequence: number, attempt: number) {
    if (!client) return null;
    try {
      const found = await eventsUpTo(client, event, lastSequence);
      if (found) return found;
    } catch (error) {
      if (isTransient(error)) throw error; // it is retried
      onError(error);
      return null;
    }
    const absent = new Error(`The feed has no event ${event.eventId}. Does the client use the same account?`);
    if (attempt < attemptsForFeed) throw absent;
    onError(absent);
    return null;
  }

  const once = (
    event: ReceivedEvent,
    notification: Notification,
    about: Pick<NotificationContext, 'source' | 'missing'>,
  ): Promise<boolean> =>
    store.once(event, async (transaction) => {
      const { eventId, sequence } = event;
      await onNotification(notification, { eventId, sequence, ...about, transaction });
    });

  async function handleState(
    notification: Notification,
    event: ReceivedEvent,
    attempt: number,
  ): Promise<void> {
    const memory = await store.look(event);
    if (!isDue(event, memory)) return;
    const { subject, eventId, sequence } = event;
    const hasGap = sequence !== null && sequence > memory.lastSequence + 1;
    const missed = hasGap ? await fetched(event, memory.lastSequence, attempt) : null;
    let last = memory.lastSequence;
    for (const { notification: found, ...one } of missed ?? []) {
      const isThis = one.eventId === eventId;
      const missing = gapBetween(last, one.sequence);
      last = one.sequence;
      if (!isThis && interests && !interests.has(one.state)) continue;
      const about = { subject, eventId: one.eventId, sequence: one.sequence };
      await once(about, isThis ? notification : found, { source: isThis ? 'REQUEST' : 'FEED', missing });
    }
    if (missed !== null) return;
    const missing = hasGap ? gapBetween(memory.lastSequence, sequence) : null;
    await once(event, notification, { source: 'REQUEST', missing });
  }

  async function handle(content: Notification | Notice, request: IncomingMessage): Promise<void> {
    const [eventId] = headerValues(request.headers, 'webhook-id') as [string];
    if (!('tracking_id' in content)) {
      const event = { eventId, subject: `event:${eventId}`, sequence: null };
      await store.once(event, async (transaction) => {
        await onNotice?.(content, { eventId, sequence: null, missing: null, source: 'REQUEST', transaction });
      });
      return;
    }
    if (content.tracking_id === testTrackingId) return void (await onTest?.(content));
    const event = {
      eventId,
      subject: content.tracking_id,
      sequence: ordinal(request, 'parcelhook-sequence'),
    };
    await inOrder(event.subject, () =>
      handleState(content, event, ordinal(request, 'parcelhook-attempt') ?? 1),
    );
  }

  async function reconcile(from: Date): Promise<number> {
    if (!client) throw new TypeError('reconcile() needs a client.');
    let count = 0;
    let position: EventQuery = { from: from.toISOString() };
    for (;;) {
      const { events, nextCursor } = await client.events.list({ ...position, limit: pageSize });
      for (const { eventId, trackingId: subject, sequence, state, notification } of events) {
        if (interests && !interests.has(state)) continue;
        const event = { eventId, subject, sequence };
        const isNew = await inOrder(subject, () =>
          once(event, notification, { source: 'FEED', missing: null }),
        );
        if (isNew) count += 1;
      }
      if (events.length === 0) return count;
      position = { after: nextCursor };
    }
  }

  return { handle, reconcile };
}

/** Null if the shipment's feed does not have that event: it is not there yet, or no longer. */
async function eventsUpTo(
  { events }: Pick<Client, 'events'>,
  { subject: trackingId, eventId }: ReceivedEvent,
  lastSequence: number,
): Promise<FeedEvent[] | null> {
  const found: FeedEvent[] = [];
  let after: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const position = after === undefined ? {} : { after, wait: feedWait };
    const { events: some, nextCursor } = await events.list(
      { trackingId, limit: pageSize, ...position },
      feedLimits,
    );
    found.push(...some);
    const place = found.findIndex((event) => event.eventId === eventId);
    if (place >= 0) return found.slice(0, place + 1).filter(({ sequence }) => sequence > lastSequence);
    if (after !== undefined && some.length === 0) return null;
    after = nextCursor;
  }
  return null;
}

const gapBetween = (last: number, next: number) =>
  next > last + 1 ? { from: last + 1, to: next - 1 } : null;

function ordinal({ headers }: IncomingMessage, name: string): number | null {
  const [text = ''] = headerValues(headers, name);
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}
