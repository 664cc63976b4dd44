/**
 * The client of the load: it speaks just enough HTTP/1.1, because on a machine that holds everything a client's own
 * CPU time is taken from what it measures.
 */
export interface Client {
    /** Sends over an idle connection, or a new one if there is none; rejects where no answer comes in a minute. */
    send(request: Buffer): Promise<Reply>;
    close(): void;
}
export interface Reply {
    status: number;
    body: string;
}
export declare function createClient(url: string): Client;
export declare function encodeRequest(url: string, method: 'GET' | 'POST', path: string, token: string, content?: unknown): Buffer;
