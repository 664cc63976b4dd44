import type { Database } from '../../platform/database/postgres.js';
type HeldBy = 'PAUSED' | 'DISABLED' | 'SUSPENDED' | 'CIRCUIT';
/** Why a shipper's webhooks are not called now, those of which that is so. */
export type Holds = Map<string, {
    heldBy: HeldBy;
    nextProbeAt: Date | null;
}>;
export declare function findHolds(db: Database, shipperId: string): Promise<Holds>;
/** What holds a delivery: its webhook before its turn. */
export declare const holdOf: (holds: Holds, webhookId: string, waitsTurn: boolean) => {
    heldBy: HeldBy;
    nextProbeAt: Date | null;
} | {
    heldBy: "TURN" | null;
    nextProbeAt: null;
};
export {};
