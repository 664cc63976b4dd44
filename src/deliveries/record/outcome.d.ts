import type { Claim, Settlement } from '../outbox/types.js';
import type { SendOutcome } from '../send/sender.js';
/** What is recorded of an attempt, and what becomes of its delivery. */
export declare function settlementOf(claim: Claim, outcome: SendOutcome, scheduleMs: readonly number[]): Settlement;
/** An answer of 410 Gone disables the webhook at once, whatever asked for the attempt (contract, section 5). */
export declare const isGone: ({ statusCode }: Pick<SendOutcome, 'statusCode'>) => boolean;
