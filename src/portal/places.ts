import { hasInbox } from './features.js';
import { lazy, type LazyComponent } from './parts/lazy.js';
import { matchPath } from './router.js';

export interface Place {
  /** Of `matchPath`. A part with `?` may be absent; with and without it is one place, and the focus stays. */
  pattern: string;
  /** In the navigation and the document's title. */
  label: string;
  Component: LazyComponent<{ id?: string }>;
  /** False: not in the navigation. */
  isListed?: boolean;
}

/**
 * Every place of the portal, in the order of the navigation. A new one is an entry here. Each is loaded when it is needed,
 * so that the first load has only the one that is shown.
 */
export const places: Place[] = [
  {
    pattern: '/webhooks',
    label: 'Webhooks',
    Component: lazy(async () => (await import('./places/webhooks/Webhooks.js')).Webhooks),
  },
  {
    pattern: '/webhooks/:id',
    label: 'Webhook',
    Component: lazy(async () => (await import('./places/webhooks/WebhookPage.js')).WebhookPage),
    isListed: false,
  },
  {
    pattern: '/deliveries/:id?',
    label: 'Deliveries',
    Component: lazy(async () => (await import('./places/deliveries/Deliveries.js')).Deliveries),
  },
  {
    pattern: '/shipments/:id?',
    label: 'Shipments',
    Component: lazy(async () => (await import('./places/shipments/Shipments.js')).Shipments),
  },
  {
    pattern: '/doctor',
    label: 'Signature doctor',
    Component: lazy(async () => (await import('./places/doctor/Doctor.js')).Doctor),
  },
  {
    pattern: '/recover',
    label: 'Recover',
    Component: lazy(async () => (await import('./places/recover/Recover.js')).Recover),
  },
  {
    pattern: '/inbox',
    label: 'Inbox',
    Component: lazy(async () => (await import('./places/inbox/Inbox.js')).Inbox),
    isListed: hasInbox,
  },
];

export function placeAt(pathname: string) {
  for (const place of places) {
    const values = matchPath(place.pattern, pathname.replace(/(.)\/$/, '$1'));
    if (values) return { place, values };
  }
  return null;
}
