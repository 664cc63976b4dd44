import type { WebhookWithHealth } from '../../../client/api/types.js';
import { trouble, waiting } from './summary.js';

/** Its trouble in full, with what its owner can do and what waits meanwhile; empty if all is well. `now` in ms. */
export function advice(webhook: WebhookWithHealth, now: number): string {
  const { health, status } = webhook;
  const why = trouble(webhook, health, now);
  if (status === 'DISABLED') {
    const { pendingCount } = health;
    const parts = [
      why ? `${why}, so nothing is sent.` : 'Nothing is sent.',
      'Correct the address or the server, then resume.',
      pendingCount > 0 &&
        `${waiting(pendingCount)} ${pendingCount === 1 ? 'delivery waits' : 'deliveries wait'}.`,
    ];
    return parts.filter(Boolean).join(' ');
  }
  return why && `${why}. If your server works again, send a test: a success sends what waits.`;
}
