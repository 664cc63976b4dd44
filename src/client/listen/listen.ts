import { randomBytes } from 'node:crypto';
import { version } from '../api/generated.js';
import type { FeedEvent } from '../api/types.js';
import type { Client } from '../client.js';
import { ParcelhookError } from '../errors.js';
import type { FollowOptions } from '../resources/events.js';
import { sign } from '../signature.js';
import { forward, type SignedNotification } from './forward.js';
import type { ListenOptions } from './options.js';
import type { Printer } from './print.js';
import { explainRefusal, lineOf } from './refusal.js';

const timeoutMs = 15_000;
/** Tries before the first response. Once connected, it retries without limit. */
const maxFirstTries = 4;

/**
 * Forwards every event of the feed to the local server, in order, each once, until the signal. Resumes after an
 * interruption. Throws ParcelhookError for a failure that retrying cannot fix, or if the service cannot be reached at
 * the start.
 */
export async function listen(
  client: Pick<Client, 'events'>,
  options: Omit<ListenOptions, 'account'>,
  printer: Printer,
  signal: AbortSignal,
): Promise<void> {
  const { interests, signing, since, forward: target } = options;
  const counts = { forwarded: 0, refused: 0, undelivered: 0 };
  const connection = watchConnection(printer, () =>
    printer.listening({ url: options.url, forward: target.href, signing, since }),
  );
  const position = createPosition();
  let start: FollowOptions & { from?: string } = since ? { from: since.toISOString() } : {};
  while (!signal.aborted) {
    try {
      const events = client.events.follow({
        ...start,
        signal,
        onCursor: connection.onConnected,
        onBreak: connection.onInterrupted,
      });
      for await (const event of events) {
        connection.onConnected();
        if (position.has(event)) continue;
        position.add(event);
        if (interests && !interests.has(event.state)) continue;
        const notification = notificationOf(event, signing.secret);
        const at = new Date();
        const { response, obstacle, ...result } = await forward(target, notification, { timeoutMs, signal });
        const refusal = await explainRefusal({ ...result, response }, notification, signing, {
          serviceUrl: options.url,
          now: new Date(),
        });
        const diagnosis = refusal ?? obstacle;
        counts.forwarded += 1;
        if (!result.ok) counts.refused += 1;
        if (result.statusCode === null) counts.undelivered += 1;
        const { eventId, sequence, trackingId, state } = event;
        const responseText = result.ok || !response ? null : lineOf(response, signing);
        printer.notified({ at, eventId, sequence, trackingId, state, ...result, responseText, diagnosis });
      }
    } catch (error) {
      if (signal.aborted) break;
      if (!connection.hasConnected() || !isCursorUnknown(error)) throw error;
      const from = position.resumeFrom() ?? start.from ?? null;
      printer.placeGone(error.details[0]!.message, from);
      start = from === null ? {} : { from };
    }
  }
  printer.ended(counts);
}

function watchConnection(printer: Printer, onFirst: () => void) {
  let hasConnected = false;
  let isInterrupted = false;
  let failures = 0;
  return {
    hasConnected: () => hasConnected,
    onConnected() {
      if (!hasConnected) onFirst();
      else if (isInterrupted) printer.resumed();
      hasConnected = true;
      isInterrupted = false;
    },
    onInterrupted(error: ParcelhookError, waitMs: number) {
      failures += 1;
      if (!hasConnected && failures >= maxFirstTries) throw error;
      if (!isInterrupted) {
        if (hasConnected) printer.interrupted(error.message);
        else printer.waiting(error.message, waitMs);
      }
      isInterrupted = true;
    },
  };
}

/** More than the events of one step back in time. */
const maxIds = 10_000;
/** The feed is in the order of commit, which differs slightly from that of `recordedAt`. */
const backMs = 60_000;

/** Remembers which events have come, to resume by time when the service no longer knows the cursor. */
function createPosition() {
  const ids = new Set<string>();
  let [firstMs, lastMs] = [Infinity, -Infinity];
  return {
    has: ({ eventId }: FeedEvent) => ids.has(eventId),
    add({ eventId, recordedAt }: FeedEvent) {
      ids.add(eventId);
      if (ids.size > maxIds) ids.delete(ids.values().next().value!);
      lastMs = Date.parse(recordedAt);
      firstMs = Math.min(firstMs, lastMs);
    },
    /** The time to read from again so that no event is missed; null before the first event. */
    resumeFrom: (): string | null =>
      ids.size === 0 ? null : new Date(Math.max(firstMs, lastMs - backMs)).toISOString(),
  };
}

/** True after a restore of the database, or an interruption longer than the log is stored. */
const isCursorUnknown = (error: unknown): error is ParcelhookError =>
  error instanceof ParcelhookError && error.status === 400 && error.details[0]?.path === 'after';

/**
 * Makes a notification with the body and headers of a first attempt at a webhook, signed now, in a trace of its own.
 */
function notificationOf({ eventId, sequence, notification }: FeedEvent, secret: string): SignedNotification {
  const body = JSON.stringify(notification);
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': `Parcelhook/${version}`,
      'webhook-id': eventId,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': sign(secret, eventId, timestampSeconds, body),
      'parcelhook-sequence': String(sequence),
      'parcelhook-attempt': '1',
      traceparent: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-00`,
      accept: '*/*',
    },
  };
}
