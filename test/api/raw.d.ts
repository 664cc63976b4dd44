import type { Answer } from '../client.js';
/** Sends bytes as they are over TCP and reads until the service closes; for what no HTTP client would send. */
export declare function sendRaw(serviceUrl: string, bytes: string | Buffer, timeoutMs?: number): Promise<string>;
/** The one answer in what was read. */
export declare function parseAnswer(text: string): Answer;
