import type { FeedEvent } from '../api/types.js';
import type { Client } from '../client.js';
import { ParcelhookError } from '../errors.js';
import type { FollowOptions } from '../resources/follow.js';
import { forward } from './forward.js';
import { notificationOf } from './notification.js';
import type { ListenOptions } from './options.js';
import type { Printer } from './print.js';

/** What a webhook gives a receiver for the whole exchange. */
const timeoutMs = 15_000;
/** Tries before the first answer; later it goes on for as long as it takes. */
const firstTries = 4;

/**
 * Forwards every event of the feed to the local server, in its order, each once, until the signal. Over breaks it goes
 * on where it was. Throws ParcelhookError for what will not pass, and where the service does not answer at first.
 */
export async function listen(
  client: Pick<Client, 'events'>,
  options: Omit<ListenOptions, 'password'>,
  printer: Printer,
  signal: AbortSignal,
): Promise<void> {
  const { interests, secret, since, forward: target } = options;
  const counts = { forwarded: 0, refused: 0 };
  const connection = watchConnection(printer, () =>
    printer.listening({ url: options.url, forward: target.href, secret, since }),
  );
  const place = createPlace();
  let start: FollowOptions = since ? { from: since.toISOString() } : {};
  while (!signal.aborted) {
    try {
      const events = client.events.follow({
        ...start,
        signal,
        onCursor: connection.isThere,
        onBreak: connection.isAway,
      });
      for await (const event of events) {
        connection.isThere();
        if (place.wasThere(event)) continue;
        place.add(event);
        if (interests && !interests.has(event.state)) continue;
        const { headers, body } = notificationOf(event, secret);
        const at = new Date();
        const result = await forward(target, headers, body, { timeoutMs, signal });
        counts.forwarded += 1;
        if (!result.ok) counts.refused += 1;
        const { eventId, sequence, trackingId, state } = event;
        printer.notified({ at, eventId, sequence, trackingId, state, ...result });
      }
    } catch (error) {
      if (signal.aborted) break;
      if (!connection.wasThere() || !isPlaceGone(error)) throw error;
      const from = place.from() ?? start.from ?? null;
      printer.placeGone(error.details[0]!.message, from);
      start = from === null ? {} : { from };
    }
  }
  printer.ended(counts);
}

/** Says once that the service is away or not there yet, and once that it is back. */
function watchConnection(printer: Printer, onFirst: () => void) {
  let begun = false;
  let away = false;
  let failures = 0;
  return {
    wasThere: () => begun,
    isThere() {
      if (!begun) onFirst();
      else if (away) printer.resumed();
      begun = true;
      away = false;
    },
    isAway(error: ParcelhookError, waitMs: number) {
      failures += 1;
      if (!begun && failures >= firstTries) throw error;
      if (!away) {
        if (begun) printer.interrupted(error.message);
        else printer.waiting(error.message, waitMs);
      }
      away = true;
    },
  };
}

/** More than is recorded in the time that it goes back. */
const maxIds = 10_000;
/** Events come in the order of commit, which is only nearly that of `recordedAt`. */
const backMs = 60_000;

/** What came from the feed, to go on where the service does not know the cursor any more. */
function createPlace() {
  const ids = new Set<string>();
  let [firstMs, lastMs] = [Infinity, -Infinity];
  return {
    /** Whether it came before, as far as that is remembered. */
    wasThere: ({ eventId }: FeedEvent) => ids.has(eventId),
    add({ eventId, recordedAt }: FeedEvent) {
      ids.add(eventId);
      if (ids.size > maxIds) ids.delete(ids.values().next().value!);
      lastMs = Date.parse(recordedAt);
      firstMs = Math.min(firstMs, lastMs);
    },
    /** From when to read again, so that nothing is left out; null where nothing came. */
    from: (): string | null =>
      ids.size === 0 ? null : new Date(Math.max(firstMs, lastMs - backMs)).toISOString(),
  };
}

/** The service does not know the cursor any more: its database was restored, or its log is shorter than the break. */
const isPlaceGone = (error: unknown): error is ParcelhookError =>
  error instanceof ParcelhookError && error.status === 400 && error.details[0]?.path === 'after';
