/** One event as a receiver sees it. */
export interface ReceivedEvent {
  eventId: string;
  /** A shipment's `trackingId`; for a notice `event:` and its id, for it belongs to no shipment. */
  subject: string;
  /** Its number within its shipment, from 1. Null if it has none that counts. */
  sequence: number | null;
}

/** A receiver's memory of what it has handled. `Transaction` is what `onNotification` gets to write with. */
export interface ReceiverStore<Transaction = undefined> {
  /** Whether an event was handled, and the highest sequence handled of its shipment (0: none is known). */
  look(event: ReceivedEvent): Promise<Memory>;
  /**
   * Runs `handle` and remembers the event, or neither: not if it was handled, was overtaken by a later one of its
   * shipment (`isDue`), or if `handle` rejects. No other event of the subject is handled meanwhile, by any process that
   * shares the store. Returns whether `handle` ran.
   */
  once(event: ReceivedEvent, handle: (transaction: Transaction) => Promise<void>): Promise<boolean>;
}

export interface Memory {
  isSeen: boolean;
  lastSequence: number;
  /** The latest time-ordered id handled of the shipment (`isTimeOrdered`). */
  newestEventId?: string | undefined;
}

/** Whether the service made the id: such ids ascend (UUIDv7). Those that its operator chose tell no time. */
export const isTimeOrdered = (id: string): boolean =>
  /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/.test(id);

/** Whether to handle an event: false if it was handled, or a later one has overtaken it. */
export const isDue = ({ sequence }: ReceivedEvent, { isSeen, lastSequence }: Memory): boolean =>
  !isSeen && (sequence === null || sequence > lastSequence);

/** The ids remembered of one shipment, far more than a journey has events. */
export const maxIds = 1_000;

/**
 * A store for tests and trials: it forgets everything when the process ends, and beyond `maxShipments` (default:
 * 100,000) the shipment whose last event is longest ago. It is for one process.
 */
export function memoryStore({ maxShipments = 100_000 } = {}): ReceiverStore {
  const shipments = new Map<string, { ids: Set<string>; lastSequence: number }>();
  const inOrder = createSerializer();

  function memoryOf({ subject, eventId }: ReceivedEvent): Memory {
    const { ids, lastSequence = 0 } = shipments.get(subject) ?? {};
    const newestEventId = [...(ids ?? [])].filter(isTimeOrdered).sort().at(-1);
    return { isSeen: ids?.has(eventId) ?? false, lastSequence, newestEventId };
  }

  function remember({ subject, eventId, sequence }: ReceivedEvent): void {
    const { ids, lastSequence } = shipments.get(subject) ?? { ids: new Set<string>(), lastSequence: 0 };
    ids.add(eventId);
    if (ids.size > maxIds) ids.delete(ids.values().next().value!);
    shipments.delete(subject); // the last in the map is the newest
    shipments.set(subject, { ids, lastSequence: Math.max(lastSequence, sequence ?? 0) });
    if (shipments.size > maxShipments) shipments.delete(shipments.keys().next().value!);
  }

  return {
    look: (event) => Promise.resolve(memoryOf(event)),
    once: (event, handle) =>
      inOrder(event.subject, async () => {
        if (!isDue(event, memoryOf(event))) return false;
        await handle(undefined);
        remember(event);
        return true;
      }),
  };
}

/** Runs work of the same key one after another. */
export function createSerializer(): <Result>(key: string, work: () => Promise<Result>) => Promise<Result> {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const result = (last.get(key) ?? Promise.resolve()).then(work);
    const done = result
      .catch(() => undefined)
      .then(() => {
        if (last.get(key) === done) last.delete(key);
      });
    last.set(key, done);
    return result;
  };
}
