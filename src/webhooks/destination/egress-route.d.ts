import { type Route } from '../../http/route.js';
/** Tells receivers whom to let through their firewalls. */
export declare const egressRoute: (addresses: readonly string[]) => Route;
