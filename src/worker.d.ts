import type { HandOver } from './deliveries/outbox/hand-over.js';
import type { ShipmentHead } from './events/store.js';
import type { Resources } from './resources.js';
export interface WorkerRole {
    /** What is recorded in this process is sent by it. */
    handOver: HandOver;
    /** Deliveries that could go out now and wait for this process. */
    pressure(): number;
    /** Creates an order that this process has accepted; resolves when it is created or left to the sweeper. */
    create(order: ShipmentHead): Promise<void>;
    /** Rejects unless a canary, or any other job, has come through every queue to this process in the last 30 s. */
    checkFlow(): Promise<void>;
    /** No new work; resolves when the attempts under way are recorded. */
    drain(): Promise<void>;
}
/** Creation, fan-out, delivery and sweeping (contract, section 1: role `worker`). */
export declare function startWorker(resources: Resources): WorkerRole;
