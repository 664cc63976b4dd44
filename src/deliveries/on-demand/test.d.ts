import { type Attempt } from '../log/attempts.js';
import { type ByHandOptions } from './send-by-hand.js';
export type TestResult = {
    deliveryId: string;
    eventId: string;
} & Attempt;
/**
 * Sends sample notifications at once, from this process. The result is the attempt as it stands in the log. Throws
 * 404 without that webhook, 429 while too many tests of the shipper are under way.
 */
export declare function createTestSender(options: ByHandOptions & {
    renderSample(state: string, timestampMs: number): string;
}): (shipperId: string, webhookId: string, state: string) => Promise<TestResult>;
