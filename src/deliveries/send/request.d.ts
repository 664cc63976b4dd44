import type { Logger } from '../../platform/logger.js';
import type { Target } from '../outbox/targets.js';
import type { Claim } from '../outbox/types.js';
import type { SendOutcome, SendRequest } from './sender.js';
export interface SendingOptions {
    send(request: SendRequest): Promise<SendOutcome>;
    logger: Logger;
    timeoutMs: number;
    userAgent: string;
}
/** Sends once. What cannot even be sent (no key opens its secrets) is an attempt that failed: it is not tried for ever. */
export declare function sendClaim(options: SendingOptions, claim: Claim, target: Target): Promise<SendOutcome>;
