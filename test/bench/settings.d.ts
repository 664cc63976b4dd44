import type { Shape } from './shapes.js';
/** How large the loads are, and which are left out. */
export interface Settings {
    quick: boolean;
    hasRedis: boolean;
    /** Forms of deployment to measure; undefined: all. */
    shapes: ReadonlySet<string> | undefined;
    webhooks: number;
    clients: number;
    /** In a closed loop, and shipments that events are recorded of. */
    orders: number;
    /** Deliveries of the burst. */
    burst: number;
    /** Length of a load at a fixed rate. */
    rateSeconds: number;
    hangSeconds: number;
    idleSeconds: number;
    idleSettleSeconds: number;
    /** After the very first one. */
    starts: number;
}
export declare const warmUpOrders: ({ orders }: Settings) => number;
export declare function chosen({ shapes, quick, hasRedis }: Settings, all: Shape[], ofQuick: Shape[]): Shape[];
