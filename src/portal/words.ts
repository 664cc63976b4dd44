type Tone = 'good' | 'bad' | 'warn' | 'info' | 'idle';

/** One vocabulary for webhooks, circuits, deliveries, replays and shipments. */
export const words: Record<string, [Tone, string]> = {
  ACTIVE: ['good', 'Active'],
  PAUSED: ['idle', 'Paused'],
  DISABLED: ['bad', 'Disabled'],
  OPEN: ['bad', 'Circuit open'],
  FAILING: ['bad', 'Failing'],
  PROBLEM: ['bad', 'Needs you'],
  PENDING: ['info', 'Pending'],
  RETRYING: ['warn', 'Retrying'],
  SENDING: ['info', 'Sending'],
  UNFINISHED: ['info', 'Waiting'],
  HELD: ['warn', 'Held'],
  SUCCEEDED: ['good', 'Succeeded'],
  FAILED: ['bad', 'Failed'],
  CANCELLED: ['idle', 'Cancelled'],
  RUNNING: ['info', 'Running'],
  DONE: ['good', 'Done'],
  CREATED: ['info', 'Created'],
  PICKED_UP: ['info', 'Picked up'],
  IN_TRANSIT: ['info', 'In transit'],
  OUT_FOR_DELIVERY: ['info', 'Out for delivery'],
  DELIVERED: ['good', 'Delivered'],
  DELIVERY_FAILED: ['warn', 'Delivery failed'],
  RETURNING: ['warn', 'Returning'],
  RETURNED: ['idle', 'Returned'],
  LOST: ['bad', 'Lost'],
};

export const wordOf = (status: string): string =>
  words[status]?.[1] ?? status.charAt(0) + status.slice(1).toLowerCase().replaceAll('_', ' ');

/** Names with their words, as options to choose from. */
export const named = (names: readonly string[]) => names.map((name) => [name, wordOf(name)] as const);

/** Shown instead of a shipment, where a delivery has none. */
export const withoutShipment = ({ state }: { state: string }): string =>
  state.startsWith('WEBHOOK_') ? 'a notice' : 'a test';
