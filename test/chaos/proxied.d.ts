import type { Closing } from './engines.js';
import type { Order } from './proxy.js';
export interface Proxy {
    /** The same as the engine's, with the proxy's port. */
    url: string;
    tell(order: Order): Promise<void>;
}
/** A proxy before the engine that `url` names. */
export declare function proxyTo(url: string, closing: Closing): Promise<Proxy>;
