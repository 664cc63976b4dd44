import { type RequestListener } from 'node:http';
import { type ConnectionLimits } from './connections.js';
export interface Listener {
    port: number;
    /** Another app answers from now on. */
    use(app: RequestListener): void;
    /** How many connections are open. */
    connections(): number;
    /** Takes no new connection; resolves when the requests under way are answered. */
    close(): Promise<void>;
}
export interface ListenerOptions {
    port: number;
    /** Undefined: all interfaces. */
    host: string | undefined;
    limits: ConnectionLimits;
    /** What the slowest request may take to be answered. */
    longestAnswerMs: number;
    /** Others than the usual, in tests. */
    times?: Partial<typeof usualTimes>;
}
declare const usualTimes: {
    /** Bounds on receiving a request's head, and the whole of it. */
    headersMs: number;
    requestMs: number;
    /** How long an idle connection is kept: longer than load balancers keep theirs (60 s). */
    idleMs: number;
    /** An answer of which its client reads nothing for so long is given up. */
    stalledMs: number;
    /** Who is refused may take so long to read it and to end; then the connection goes. */
    lingerMs: number;
};
/** An HTTP server whose every wait has a bound: for heads, bodies, readers, and for the end of what it refused. */
export declare function listen(first: RequestListener, options: ListenerOptions): Promise<Listener>;
export {};
