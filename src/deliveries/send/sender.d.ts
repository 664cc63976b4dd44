import { type ErrorCode } from './errors.js';
import { type RouteOptions } from './connection.js';
export type { ErrorCode } from './errors.js';
export type SenderOptions = RouteOptions;
export interface SendRequest {
    /** As registered. */
    url: string;
    shipperId: string;
    headers: Record<string, string>;
    body: string;
    /** For the whole exchange: waiting for a connection, DNS, connect, TLS, request, response and its body. */
    timeoutMs: number;
}
export interface SendOutcome {
    ok: boolean;
    statusCode: number | null;
    errorCode: ErrorCode | null;
    /** The first 4 KiB, UTF-8 with replacement characters, without NUL; null if there was no status line. */
    responseBody: string | null;
    durationMs: number;
    /** The raw header. */
    retryAfter: string | null;
    startedAt: Date;
}
export interface Sender {
    send(request: SendRequest): Promise<SendOutcome>;
    /** Closes all connections: what is still in flight fails with RESET. */
    close(): void;
}
/**
 * Sends a notification once. A failure is a value: `send` never rejects.
 *
 * The status line decides. A 2xx within the timeout is a success, and any other status is `HTTP_STATUS`,
 * whatever becomes of the body after it: endless, dripping or broken off, it is read up to 8 KiB or the
 * deadline, and then the connection is dropped. Redirects are not followed, nothing is decompressed.
 *
 * A connection that was kept open and that the receiver closed before it answered a byte is no failure of the
 * receiver's (RFC 9112, 9.3.1): the request goes out once more, on a fresh connection, within the same deadline.
 */
export declare function createSender(options: SenderOptions): Sender;
