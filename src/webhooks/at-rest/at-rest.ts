import type { SecretBox } from './secrets.js';

/** How the value of a webhook's own header is shown; sent back, it stands for the value that is kept. */
export const masked = '••••';

export type OwnHeaders = Record<string, string>;

const fields = {
  secret: () => 'secret',
  query: () => 'query',
  header: (name: string) => `header ${name.toLowerCase()}`,
};

/** Seals and opens what a webhook must not show at rest: its secrets, its address's query, its headers' values. */
export interface AtRest {
  sealSecret(webhookId: string, secret: string): string;
  openSecret(webhookId: string, stored: string): string;
  /** The address is readable up to its query. */
  sealAddress(webhookId: string, address: string): string;
  openAddress(webhookId: string, stored: string): string;
  sealHeaders(webhookId: string, headers: OwnHeaders): OwnHeaders;
  openHeaders(webhookId: string, stored: OwnHeaders): OwnHeaders;
}

/** What no key opens throws. */
export function atRest({ seal, open }: Pick<SecretBox, 'seal' | 'open'>): AtRest {
  return {
    sealSecret: (webhookId, secret) => seal(secret, { webhookId, field: fields.secret() }),
    openSecret: (webhookId, stored) => open(stored, { webhookId, field: fields.secret() }),
    sealAddress: (webhookId, address) =>
      mapQuery(address, (query) => seal(query, { webhookId, field: fields.query() })),
    openAddress: (webhookId, stored) =>
      mapQuery(stored, (query) => open(query, { webhookId, field: fields.query() })),
    sealHeaders: (webhookId, headers) =>
      mapValues(headers, (value, name) => seal(value, { webhookId, field: fields.header(name) })),
    openHeaders: (webhookId, stored) =>
      mapValues(stored, (value, name) => open(value, { webhookId, field: fields.header(name) })),
  };
}

/** Where it is called, as log and notices show it. */
export const withoutQuery = (address: string): string => address.split('?', 1)[0]!;

/** The same in SQL. */
export const withoutQuerySql = (column: string): string => `split_part(${column}, '?', 1)`;

export const maskHeaders = (headers: OwnHeaders): OwnHeaders => mapValues(headers, () => masked);

function mapQuery(address: string, change: (query: string) => string): string {
  const at = address.indexOf('?') + 1;
  return at === 0 ? address : address.slice(0, at) + change(address.slice(at));
}

const mapValues = (headers: OwnHeaders, change: (value: string, name: string) => string): OwnHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, change(value, name)]));
