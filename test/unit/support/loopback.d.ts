import type { Server } from 'node:http';
import net from 'node:net';
type Listening = {
    url: string;
    port: number;
    connections: () => number;
};
/** Servers on loopback ports of their own; `closeAll` ends them with their connections. */
export declare function createLoopback(): {
    listen: (server: net.Server | Server, scheme?: string) => Promise<Listening>;
    /** A server that treats every request's first bytes with `answer`, and is not bound to speak HTTP. */
    raw(answer: (socket: net.Socket, requestNumber: number, data: Buffer) => void): Promise<Listening>;
    closeAll(): void;
};
export {};
