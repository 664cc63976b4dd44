import { signal } from '@preact/signals';
import type { ListedWebhook, WebhookPage } from '../../client/api/types.js';
import { readPages, withQuery } from '../api.js';
import { freely, type Calls } from '../in-short.js';
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
    readAll().then(
      (list) => (webhooks.value = list),
      () => (readAt = 0),
    );
  }
  return webhooks.value ?? none;
}

const maxPages = 8;

async function readAll(): Promise<ListedWebhook[]> {
  const pages = await readPages<WebhookPage>(
    (cursor) => withQuery('/v1/webhooks', { include: 'health', limit: 250, cursor }),
    maxPages,
  );
  return pages.flatMap((page) => page.webhooks);
}

export const isWebhookListRead = () => webhooks.value !== null;

/** Takes the list that another place has read. */
export function keepWebhookList(list: ListedWebhook[]): void {
  webhooks.value = list;
  readAt = Date.now();
}

/** A change that the list shows: it is read again where it is needed next. */
export const forgetWebhookList = () => (readAt = 0);

export const callsOf = (list: ListedWebhook[], id: string): Calls =>
  list.find(({ webhookId }) => webhookId === id) ?? freely;

/** The name that its owner gave it; a webhook that is deleted is named by its address. */
export function webhookName(
  list: ListedWebhook[],
  { webhookId, targetAddress }: { webhookId: string; targetAddress: string },
): string {
  const webhook = list.find((one) => one.webhookId === webhookId);
  return nameOf(webhook ?? { name: null, description: '', targetAddress });
}
