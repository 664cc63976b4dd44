/** HMAC-SHA256 of a notification by WebCrypto, which browsers have, too. */
export interface Signed {
  key: Uint8Array<ArrayBuffer>;
  /** `<webhook-id>.<webhook-timestamp>.` */
  prefix: string;
  body: Uint8Array;
}

/** The digest in Base64. */
export async function digestOf({ key, prefix, body }: Signed): Promise<string> {
  const { subtle } = globalThis.crypto;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await subtle.importKey('raw', key, algorithm, false, ['sign']);
  const start = new TextEncoder().encode(prefix);
  const content = new Uint8Array(start.length + body.length);
  content.set(start);
  content.set(body, start.length);
  const digest = new Uint8Array(await subtle.sign('HMAC', imported, content));
  return btoa(String.fromCharCode(...digest));
}
