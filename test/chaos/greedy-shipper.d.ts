import { type Account } from '../client.js';
import type { PostgresEngine } from './engines.js';
/** One delivery with so many attempts, and so many webhooks that were deleted; `remove` takes them away again. */
export declare function largeLog({ sql }: PostgresEngine, account: Account, attempts: number, deletedWebhooks: number): Promise<{
    deliveryId: string;
    remove(): Promise<void>;
}>;
/** The shipper's clients, in a process of their own; `stop` resolves with how often they were answered what. */
export declare function startGreedy(url: string, { accountKey, token }: Account, deliveryId: string): {
    stop: () => Promise<string>;
};
