/** One event as a receiver sees it. */
export interface ReceivedEvent {
  /** `webhook-id`. */
  eventId: string;
  /** A shipment's `trackingId`; for a notice `event:` and its id, for it belongs to no shipment. */
  subject: string;
  /** `Parcelhook-Sequence`: its ordinal within its shipment, from 1. Null if it has none. */
  sequence: number | null;
}

/** A receiver's memory of what it has handled. `Transaction` is what `onNotification` gets to write with. */
export interface ReceiverStore<Transaction = undefined> {
  /** Whether an event was handled, and the highest sequence handled of its shipment (0: none is known). */
  look(event: ReceivedEvent): Promise<Memory>;
  /**
   * Runs `handle` and remembers the event, or neither: not if it was handled, is older than the last one of its
   * shipment (`isDue`), or if `handle` rejects. No other event of the subject is handled meanwhile, by any process that
   * shares the store. Returns whether `handle` ran.
   */
  once(event: ReceivedEvent, handle: (transaction: Transaction) => Promise<void>): Promise<boolean>;
}

export interface Memory {
  isSeen: boolean;
  lastSequence: number;
}

/** Whether to handle an event: not twice, and none that a later one has overtaken. */
export const isDue = ({ sequence }: ReceivedEvent, { isSeen, lastSequence }: Memory): boolean =>
  !isSeen && (sequence === null || sequence > lastSequence);

/** The ids remembered of one shipment, far more than a journey has events. */
export const maxIds = 1_000;
