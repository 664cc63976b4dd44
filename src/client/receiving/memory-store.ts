import { isDue, maxIds, type Memory, type ReceivedEvent, type ReceiverStore } from './store.js';

/**
 * A store for tests and trials: it forgets everything when the process ends, and beyond `maxShipments` (default:
 * 100,000) the shipment whose last event is longest ago. It is for one process.
 */
export function memoryStore({ maxShipments = 100_000 } = {}): ReceiverStore {
  const shipments = new Map<string, { ids: Set<string>; lastSequence: number }>();
  const inOrder = createSerializer();

  function memoryOf({ subject, eventId }: ReceivedEvent): Memory {
    const { ids, lastSequence = 0 } = shipments.get(subject) ?? {};
    return { isSeen: ids?.has(eventId) ?? false, lastSequence };
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
