import type { ComponentType } from 'preact';
import { hasInbox } from './session.js';
import { matchPath } from './match-path.js';
import { lazy } from './parts/lazy.js';
import { Deliveries } from './places/deliveries/Deliveries.js';
import { Webhooks } from './places/webhooks/Webhooks.js';

export interface Place {
  /** A pattern of `matchPath`. A part with `?` may be absent; with and without it is one place, and the focus stays. */
  pattern: string;
  label: string;
  Component: ComponentType<{ id?: string }>;
  isListed?: boolean;
}

const onDemand = () => import('./places/on-demand.js');
const WebhookPage = lazy(async () => (await onDemand()).WebhookPage);
const Account = lazy(async () => (await onDemand()).Account);
const Shipments = lazy(async () => (await onDemand()).Shipments);
const Tokens = lazy(async () => (await onDemand()).Tokens);
const Doctor = lazy(async () => (await onDemand()).Doctor);
const Recover = lazy(async () => (await onDemand()).Recover);
const Inbox = lazy(async () => (await onDemand()).Inbox);

/** Every place of the portal, in the order of the navigation. A new one is a line here. */
export const places: Place[] = [
  { pattern: '/webhooks', label: 'Webhooks', Component: Webhooks },
  { pattern: '/webhooks/:id', label: 'Webhook', Component: WebhookPage, isListed: false },
  { pattern: '/deliveries/:id?', label: 'Deliveries', Component: Deliveries },
  { pattern: '/shipments/:id?', label: 'Shipments', Component: Shipments },
  { pattern: '/tokens', label: 'Tokens', Component: Tokens },
  { pattern: '/doctor', label: 'Signature doctor', Component: Doctor },
  { pattern: '/recover', label: 'Recover', Component: Recover },
  { pattern: '/account', label: 'Account', Component: Account, isListed: false },
  { pattern: '/inbox', label: 'Inbox', Component: Inbox, isListed: hasInbox },
];

export function placeAt(pathname: string) {
  for (const place of places) {
    const values = matchPath(place.pattern, pathname.replace(/(.)\/$/, '$1'));
    if (values) return { place, values };
  }
  return null;
}
