import type { DestinationPolicy } from './destination-address.js';
/**
 * What the API's document promises to be taken as a webhook's address. `checkTargetAddress` decides; it takes some more
 * that no pattern can tell, such as public IP addresses, and refuses names that are private by custom.
 */
export declare function addressPattern({ allowPrivateTargets, allowHttpTargets, allowedPorts }: DestinationPolicy): string;
