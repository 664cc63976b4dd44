import type { DropoffLocation } from './order.js';
/** A usable set for a first start; operators replace it with DROPOFF_FILE. */
export declare const defaultDropoffLocations: DropoffLocation[];
