/** How a message is framed and to whom it goes is not a header's matter (RFC 9110, 7; RFC 9112, 6). */
const NOT_THE_CALLERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export const isFraming = (name: string): boolean => NOT_THE_CALLERS.has(name.toLowerCase());

/**
 * The headers in Node's flat form, which it writes as they are. Host and Content-Length are ours; a caller's
 * framing headers are left out, the others are sent exactly as given.
 */
export function flatHeaders(url: URL, headers: Record<string, string>, body: string): string[] {
  const flat = ['Host', url.host];
  for (const [name, value] of Object.entries(headers)) {
    if (!isFraming(name)) flat.push(name, value);
  }
  flat.push('Content-Length', String(Buffer.byteLength(body)));
  return flat;
}
