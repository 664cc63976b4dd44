import type { SecretBox } from './secrets.js';

/** How the value of a webhook's own header is shown; sent back, it stands for the value that is kept. */
export const masked = '••••';

export type OwnHeaders = Record<string, string>;

/** Before a sealed text where a plain one may stand too: neither an address nor a header's value may hold it. */
export const sealMark = '•';

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

/** Opens the plain text of earlier versions as well. What no key opens throws. */
export function atRest({ seal, open }: Pick<SecretBox, 'seal' | 'open'>): AtRest {
  const sealValue = (webhookId: string, field: string, text: string) =>
    sealMark + seal(text, { webhookId, field });
  const openValue = (webhookId: string, field: string, stored: string) =>
    stored.startsWith(sealMark) ? open(stored.slice(sealMark.length), { webhookId, field }) : stored;
  return {
    sealSecret: (webhookId, secret) => seal(secret, { webhookId, field: fields.secret() }),
    openSecret: (webhookId, stored) => open(stored, { webhookId, field: fields.secret() }),
    sealAddress: (webhookId, address) =>
      mapQuery(address, (query) => sealValue(webhookId, fields.query(), query)),
    openAddress: (webhookId, stored) =>
      mapQuery(stored, (query) => openValue(webhookId, fields.query(), query)),
    sealHeaders: (webhookId, headers) =>
      mapValues(headers, (value, name) => sealValue(webhookId, fields.header(name), value)),
    openHeaders: (webhookId, stored) =>
      mapValues(stored, (value, name) => openValue(webhookId, fields.header(name), value)),
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
