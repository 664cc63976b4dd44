import type { EventQuery, FeedEvent, Notice, Notification } from '../api/types.js';
import type { Client } from '../client.js';
import { isTransient, ParcelhookError } from '../errors.js';
import { headerValues, type RequestHeaders } from '../request-headers.js';
import type { VerifyOptions } from '../signed-request.js';
import {
  createSerializer,
  isTimeOrdered,
  type Memory,
  type ReceivedEvent,
  type ReceiverStore,
} from './store.js';

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

export interface BodyLimits {
  maxBodyBytes: number;
  bodyTimeoutMs: number;
}

export interface ReceiverOptions<Transaction = undefined> extends Partial<BodyLimits> {
  /** The secret; during a rotation, both. */
  secret: string | readonly string[];
  store: ReceiverStore<Transaction>;
  /**
   * Handles one state of a shipment. A shipment's states come one at a time, in order, each once; the response waits for
   * it, at most 15 s. If it rejects, the response is 500, and the notification comes again.
   */
  onNotification(notification: Notification, context: NotificationContext<Transaction>): unknown;
  /** Something happened to another webhook of yours (`notice.state`). Without it, notices are accepted and ignored. */
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

/** Every receiver has these, whatever serves it. */
export interface Reconciling {
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

export type Outcome = [status: number, text: string];

/** The bytes of a body, or why there are none. `GONE`: nobody waits for a response. */
export type BodyOutcome = Uint8Array | 'CONSUMED' | 'TOO_LARGE' | 'TOO_SLOW' | 'GONE';

const bodyOutcomes: Record<'CONSUMED' | 'TOO_LARGE' | 'TOO_SLOW', Outcome> = {
  CONSUMED: [
    500,
    'Something read the body before the receiver: register it before any body parser, such as express.json().',
  ],
  TOO_LARGE: [413, 'The body is too large.'],
  TOO_SLOW: [408, 'The body did not arrive in time.'],
};

/** The headers of the response to this outcome. */
export const headersOf = ([status, text]: Outcome): Record<string, string> => ({
  ...(text && { 'content-type': 'text/plain; charset=utf-8' }),
  ...(status === 405 && { allow: 'POST' }),
});

/** A request, however it is served. */
export interface Incoming {
  method: string | undefined;
  headers: RequestHeaders;
  readBody(limits: BodyLimits): Promise<BodyOutcome>;
}

type Content = Notification | Notice;
type Verify = (
  headers: RequestHeaders,
  rawBody: Uint8Array,
  secret: string | readonly string[],
  options: VerifyOptions,
) => Content | Promise<Content>;

/** Throws TypeError for a missing option. `respondTo` never rejects; null means that nobody waits for a response. */
export function createHandler<Transaction>(options: ReceiverOptions<Transaction>, verify: Verify) {
  const { secret, onError = console.error, toleranceSeconds } = options;
  if (secret.length === 0 || [secret].flat().includes('')) throw new TypeError('secret is missing or empty.');
  if (typeof options.onNotification !== 'function') throw new TypeError('onNotification is missing.');
  const limits = {
    maxBodyBytes: options.maxBodyBytes ?? 1_048_576,
    bodyTimeoutMs: options.bodyTimeoutMs ?? 10_000,
  };
  const { handle, reconcile } = createStateHandler(options);

  async function outcomeOf({ method, headers, readBody }: Incoming): Promise<Outcome | null> {
    if (method !== 'POST') return [405, 'Only POST is accepted.'];
    const body = await readBody(limits);
    if (body === 'GONE') return null;
    if (body === 'CONSUMED') onError(new Error(bodyOutcomes.CONSUMED[1]));
    if (typeof body === 'string') return bodyOutcomes[body];
    let content: Content;
    try {
      content = await verify(headers, body, secret, { toleranceSeconds });
    } catch (error) {
      if (error instanceof ParcelhookError) return [400, error.message];
      throw error;
    }
    const [challenge] = headerValues(headers, 'webhook-challenge');
    if (challenge !== undefined && Object.keys(content).length === 0) return [200, challenge];
    await handle(content, headers);
    return [204, ''];
  }

  const respondTo = (request: Incoming): Promise<Outcome | null> =>
    outcomeOf(request).catch((error: unknown): Outcome => {
      onError(error);
      return [500, 'The notification was not handled.'];
    });
  return { respondTo, reconcile };
}

function createStateHandler<Transaction>(options: ReceiverOptions<Transaction>) {
  const { store, client, onNotification, onNotice, onTest, onError = console.error } = options;
  const interests = options.interests && new Set(options.interests);
  const inOrder = createSerializer();

  /** The events of the shipment, this one among them. Null if there is no feed, or none that will ever have it. */
  async function journeyOf(event: ReceivedEvent, attempt: number, isWhole: boolean) {
    if (!client) return null;
    try {
      const found = await eventsOf(client, event, isWhole);
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

  /** The store gets no sequence that is not after its own: the event would count as overtaken. */
  const once = (
    event: ReceivedEvent,
    notification: Notification,
    lastSequence: number,
    about: Pick<NotificationContext, 'source' | 'missing'>,
  ): Promise<boolean> => {
    const { eventId, subject, sequence } = event;
    const counts = sequence !== null && sequence > lastSequence;
    return store.once({ eventId, subject, sequence: counts ? sequence : null }, async (transaction) => {
      await onNotification(notification, { eventId, sequence, ...about, transaction });
    });
  };

  /** The index of the last event of a journey that was handled, except this one; -1 if none was. */
  async function lastHandled(journey: FeedEvent[], { subject, eventId }: ReceivedEvent): Promise<number> {
    for (let place = journey.length - 1; place >= 0; place -= 1) {
      const other = { subject, eventId: journey[place]!.eventId, sequence: null };
      if (other.eventId !== eventId && (await store.look(other)).isSeen) return place;
    }
    return -1;
  }

  const placeIn = (journey: FeedEvent[], { eventId }: ReceivedEvent) =>
    journey.findIndex((one) => one.eventId === eventId);

  /**
   * `Parcelhook-Sequence` is not signed. If it is the next one, or there is no feed, it is believed; else the feed says
   * which events come before this one, and whether a later one was handled. Without a feed, an event counts as
   * overtaken only if its id is older, too.
   */
  async function handleState(
    notification: Notification,
    event: ReceivedEvent,
    attempt: number,
  ): Promise<void> {
    const memory = await store.look(event);
    const { lastSequence } = memory;
    const { subject, eventId, sequence } = event;
    if (memory.isSeen || (isSaidOvertaken(event, memory) && isOlder(event, memory))) return;
    const isNext = sequence === null || sequence === lastSequence + 1;
    const journey = isNext ? null : await journeyOf(event, attempt, sequence <= lastSequence);
    if (journey === null) {
      const missing = sequence === null ? null : gapBetween(lastSequence, sequence);
      await once(event, notification, lastSequence, { source: 'REQUEST', missing });
      return;
    }
    const handled = await lastHandled(journey, event);
    let last = journey[handled]?.sequence ?? lastSequence;
    // If a later event was handled, there are none to handle.
    for (const { notification: found, ...one } of journey.slice(handled + 1, placeIn(journey, event) + 1)) {
      const isThis = one.eventId === eventId;
      const missing = gapBetween(last, one.sequence);
      last = one.sequence;
      if (!isThis && interests && !interests.has(one.state)) continue;
      const about = { source: isThis ? ('REQUEST' as const) : ('FEED' as const), missing };
      const known = { subject, eventId: one.eventId, sequence: one.sequence };
      await once(known, isThis ? notification : found, lastSequence, about);
    }
  }

  async function handle(content: Content, headers: RequestHeaders): Promise<void> {
    const [eventId] = headerValues(headers, 'webhook-id') as [string];
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
      sequence: ordinal(headers, 'parcelhook-sequence'),
    };
    await inOrder(event.subject, () =>
      handleState(content, event, ordinal(headers, 'parcelhook-attempt') ?? 1),
    );
  }

  /** Whether a missed event was due, and is handled now. */
  async function handleMissed(client: Client['events'], event: ReceivedEvent, notification: Notification) {
    const memory = await store.look(event);
    if (memory.isSeen) return false;
    if (isSaidOvertaken(event, memory)) {
      const journey = isOlder(event, memory) ? null : await eventsOf({ events: client }, event, true);
      if (!journey || (await lastHandled(journey, event)) > placeIn(journey, event)) return false;
    }
    return once(event, notification, memory.lastSequence, { source: 'FEED', missing: null });
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
        if (await inOrder(subject, () => handleMissed(client.events, event, notification))) count += 1;
      }
      if (events.length === 0) return count;
      position = { after: nextCursor };
    }
  }

  return { handle, reconcile };
}

/**
 * The shipment's events in order, at least up to this one; with `isWhole` also those after it. Null if the feed does
 * not have that event yet, or no longer has it.
 */
async function eventsOf(
  { events }: Pick<Client, 'events'>,
  { subject: trackingId, eventId }: ReceivedEvent,
  isWhole: boolean,
): Promise<FeedEvent[] | null> {
  const found: FeedEvent[] = [];
  let hasIt = false;
  let after: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const position = after === undefined ? {} : { after, ...(!hasIt && { wait: feedWait }) };
    const { events: some, nextCursor } = await events.list(
      { trackingId, limit: pageSize, ...position },
      feedLimits,
    );
    found.push(...some);
    hasIt ||= some.some((event) => event.eventId === eventId);
    if (hasIt && (!isWhole || some.length === 0)) break;
    if (after !== undefined && some.length === 0) break;
    after = nextCursor;
  }
  return hasIt ? found : null;
}

const isSaidOvertaken = ({ sequence }: ReceivedEvent, { lastSequence }: Memory): boolean =>
  sequence !== null && sequence <= lastSequence;

const isOlder = ({ eventId }: ReceivedEvent, { newestEventId }: Memory): boolean =>
  isTimeOrdered(eventId) && newestEventId !== undefined && eventId < newestEventId;

const gapBetween = (last: number, next: number) =>
  next > last + 1 ? { from: last + 1, to: next - 1 } : null;

function ordinal(headers: RequestHeaders, name: string): number | null {
  const [text = ''] = headerValues(headers, name);
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}
