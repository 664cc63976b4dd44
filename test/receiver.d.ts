import { type IncomingHttpHeaders, type ServerResponse } from 'node:http';
export interface Received {
    at: number;
    method: string;
    path: string;
    headers: IncomingHttpHeaders;
    body: string;
    /** The body as JSON. */
    notification: Record<string, unknown>;
}
export interface Reply {
    status?: number;
    headers?: Record<string, string>;
    body?: string;
    delayMs?: number;
}
export interface Receiver {
    url: string;
    received: Received[];
    /** Decides each answer; 200 without it. May write to the response itself and return nothing. */
    reply: (request: Received, response: ServerResponse) => Reply | void;
    /** Resolves with the first `count` notifications that satisfy `matches`, or rejects after `timeoutMs`. */
    waitFor(count: number, matches?: (request: Received) => boolean, timeoutMs?: number): Promise<Received[]>;
    close(): Promise<void>;
}
/** A real HTTP receiver on a free port whose answers a test decides. */
export declare function startReceiver(reply?: Receiver['reply']): Promise<Receiver>;
