import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
export interface ConnectionLimits {
    /** Connections at once. */
    most: number;
    /** Of them, from one address block. */
    mostOfBlock: number;
    /** Addresses of proxies, which bring the connections of many: their blocks may have them all. */
    isProxy(address: string): boolean;
    onDropped(why: 'refused' | 'displaced'): void;
}
export interface Connections {
    /** Takes a connection, if need be in the place of another; destroys it where there is no room. */
    add(socket: Socket): void;
    /** A request's head has come. Its answer closes when it is over, or with its connection. */
    begin(request: IncomingMessage, response: ServerResponse): void;
    /** It has had requests, and all of them are answered. */
    isDone(socket: Socket): boolean;
    /** Destroys those that do not wait for an answer to a whole request. */
    cutOffSilent(): void;
    count(): number;
}
/**
 * Keeps the places for connections. Where none is left, the one that has been idle for longest goes, from the same
 * block or from that which has most: who sends half a request and waits is pushed out by those who come with a whole
 * one. A connection whose request is being answered is never pushed out.
 */
export declare function createConnections(limits: ConnectionLimits): Connections;
