import type { DeliveryQuery } from '../../../client/api/types.js';

/** Filters of the log, by their names in the address and in the API. */
export const filterNames = [
  'status',
  'state',
  'webhookId',
  'trackingId',
  'shipperTrackingId',
  'from',
  'to',
] as const satisfies (keyof DeliveryQuery)[];
export type FilterName = (typeof filterNames)[number];
export type Filters = Partial<Record<FilterName, string>>;

export function filtersOf(query: URLSearchParams): Filters {
  const given = filterNames.map((name) => [name, query.get(name) ?? '']).filter(([, value]) => value);
  return Object.fromEntries(given) as Filters;
}

export const noFilters = Object.fromEntries(filterNames.map((name) => [name, null]));
