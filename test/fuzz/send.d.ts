import type { Answer } from '../client.js';
import type { Draft } from './requests.js';
export interface Prepared {
    method: string;
    /** With its query. */
    path: string;
    headers: Record<string, string>;
    body?: Buffer;
}
/** Fills in what earlier answers named, and proves who is calling as the operation wants it. */
export declare function prepare(draft: Draft, proofs: Record<string, {
    header?: string;
    query?: [string, string];
}>, lookUp: (name: string, pick: number) => unknown): Prepared;
/** Sends it as it is: no client library corrects it on its way. */
export declare function send(url: string, { method, path, headers, body }: Prepared): Promise<Answer>;
