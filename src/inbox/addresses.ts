import { createHmac } from 'node:crypto';
import { sameText } from '../accounts/credentials.js';

export interface InboxAddresses {
  /** The address of a shipper's inbox; the same after a restart. */
  addressOf(shipperId: string): string;
  /** Null for a token that this service has not made. */
  shipperOf(token: string): string | null;
}

export const inboxPath = '/inbox/';

/** `token` in its address identifies a shipper and proves it: 16 bytes of its id, 16 of an HMAC, in base64url. */
export function createInboxAddresses(baseUrl: string, secret: string): InboxAddresses {
  const tokenOf = (shipperId: string) => {
    const mac = createHmac('sha256', secret).update(`inbox ${shipperId}`).digest();
    const id = Buffer.from(shipperId.replaceAll('-', ''), 'hex');
    return Buffer.concat([id, mac.subarray(0, 16)]).toString('base64url');
  };
  return {
    addressOf: (shipperId) => `${baseUrl}${inboxPath}${tokenOf(shipperId)}`,
    shipperOf: (token) => {
      const shipperId = Buffer.from(token, 'base64url')
        .toString('hex', 0, 16)
        .replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
      return sameText(token, tokenOf(shipperId)) ? shipperId : null;
    },
  };
}
