import { signal } from '@preact/signals';
import type { ListedWebhook, WebhookPage } from '../../client/api/types.js';
import { call } from '../api.js';
import { nameOf } from './webhooks/summary.js';

/** The account's webhooks, of which there are normally at most 100; empty until they are read. */
const webhooks = signal<ListedWebhook[] | null>(null);
const none: ListedWebhook[] = [];
let readAt = 0;
const staleAfterMs = 30_000;

/** Reads them again when a place is opened after a while. */
export function useWebhookList(): ListedWebhook[] {
  if (Date.now() - readAt > staleAfterMs) {
    readAt = Date.now();
    call<WebhookPage>('GET', '/v1/webhooks?limit=250').then(
      (page) => (webhooks.value = page.webhooks),
      () => (readAt = 0),
    );
  }
  return webhooks.value ?? none;
}

export const isWebhookListRead = () => webhooks.value !== null;

/** The name that its owner gave it; a webhook that is deleted is named by its address. */
export function webhookName(
  list: ListedWebhook[],
  { webhookId, targetAddress }: { webhookId: string; targetAddress: string },
): string {
  const webhook = list.find((one) => one.webhookId === webhookId);
  return nameOf(webhook ?? { description: '', targetAddress });
}
