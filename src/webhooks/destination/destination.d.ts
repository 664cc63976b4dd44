import { type DestinationPolicy } from './destination-address.js';
export { isDeniedAddress, type DestinationPolicy } from './destination-address.js';
export { addressDenied, checkedAddresses, guardedLookup, type Resolve } from './destination-lookup.js';
/**
 * Whether a webhook may be registered for this text: null, or a sentence that says what is wrong and what
 * would be right. It looks at the text and at a literal address; where a name points is only known, and
 * checked, when a connection is made (`guardedLookup`).
 *
 * A text that two parsers could read differently is refused, whatever the policy. What passes is stored and
 * called as written, but for a host in Unicode (`asciiAddress`): nothing else is normalised.
 *
 * It is asked again on every attempt: the policy may have become tighter since.
 */
export declare function checkTargetAddress(text: string, policy: DestinationPolicy): string | null;
