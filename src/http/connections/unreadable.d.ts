import type { Duplex } from 'node:stream';
/**
 * What the HTTP parser itself refuses is answered in the API's form as well. Then the connection is closed, whether
 * its client heeds the end or not: it has `lingerMs` to read the answer.
 */
export declare function answerUnreadable(lingerMs: number): (error: NodeJS.ErrnoException, socket: Duplex) => void;
