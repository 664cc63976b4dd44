/**
 * The headers in Node's flat form, which it writes as they are. Host and Content-Length are ours; a caller's
 * framing headers are left out, the others are sent exactly as given.
 */
export declare function flatHeaders(url: URL, headers: Record<string, string>, body: string): string[];
