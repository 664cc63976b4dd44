import type { DropoffLocation } from './order.js';
/** Reads DROPOFF_FILE. Throws an Error that names every wrong field. */
export declare function readDropoffLocations(path: string): DropoffLocation[];
/** Chooses the location a parcel is handed in at, for an address of the recipient. */
export type ChooseDropoff = (to: {
    country: string;
    administrativeArea: string;
    postalCode: string;
}) => DropoffLocation;
/**
 * Of the recipient's country, then of the same administrative area, then with the longest shared postal-code prefix
 * (contract, section 3). A rule nothing satisfies is passed over.
 */
export declare function dropoffChooser(locations: DropoffLocation[]): ChooseDropoff;
