/**
 * `webhook-signature` of Standard Webhooks: `v1,<base64>` of HMAC-SHA256 over id, timestamp and body, one per
 * secret, separated by spaces (two during a rotation).
 */
export declare const sign: (secrets: readonly string[], id: string, timestampSeconds: number, body: string) => string;
