import type { Claim } from '../../../src/deliveries/outbox/types.js';
import type { Database } from '../../../src/platform/database/postgres.js';
import type { World } from './world.js';
/** What a shipment's recipient is known by, and what receivers answer. */
export declare const planted: {
    fullName: string;
    phone: string;
    street: string;
    evidence: string;
    place: string;
    answer: string;
};
export declare const plantedWords: string[];
export declare const erasing: (db: Database) => {
    db: Database;
    times: {
        leaseMs: number;
        sweepEveryMs: number;
        sweepRestEveryMs: number;
        canaryEveryMs: number;
        unattendedAfterMs: number;
        sparedMs: number;
        lingerMs: number;
        slowMs: number;
        patienceMs: number;
        replayEveryMs: number;
        removedQuietMs: number;
        sealAfterMs: number;
        circuit: {
            windowMs: number;
            firstWaitMs: number;
            longestWaitMs: number;
        };
        longestStartMs: number;
    };
    metrics: {
        contentType: "text/plain; version=0.0.4; charset=utf-8";
        text: () => Promise<string>;
        onScrape: (read: () => void) => undefined;
        ordersAccepted: import("prom-client").Counter<never>;
        httpDuration: import("prom-client").Histogram<"method" | "route" | "status">;
        eventsRecorded: import("prom-client").Counter<"state">;
        fannedOut: import("prom-client").Counter<never>;
        attempts: import("prom-client").Counter<"outcome" | "status_class">;
        attemptDuration: import("prom-client").Histogram<"outcome">;
        eventToFirstAttempt: import("prom-client").Histogram<never>;
        eventToSuccess: import("prom-client").Histogram<never>;
        completed: import("prom-client").Counter<"status">;
        retriesScheduled: import("prom-client").Counter<never>;
        exhausted: import("prom-client").Counter<never>;
        lateResults: import("prom-client").Counter<never>;
        circuitTransitions: import("prom-client").Counter<"to">;
        webhooksDisabled: import("prom-client").Counter<"reason">;
        swept: import("prom-client").Counter<"kind">;
        shipmentsErased: import("prom-client").Counter<"cause">;
        removalRows: import("prom-client").Counter<"rows">;
        rateLimited: import("prom-client").Counter<"limit">;
        connectionsDropped: import("prom-client").Counter<"reason">;
        connections: import("prom-client").Gauge<never>;
        connectionsLimit: import("prom-client").Gauge<never>;
        batchSize: import("prom-client").Histogram<"batch">;
        deliveriesOpen: import("prom-client").Gauge<"status">;
        oldestWaiting: import("prom-client").Gauge<never>;
        circuitsOpen: import("prom-client").Gauge<never>;
        webhooks: import("prom-client").Gauge<"status">;
        queueJobs: import("prom-client").Gauge<"queue" | "state">;
        queueOldestWaiting: import("prom-client").Gauge<"queue">;
        shippersToRemove: import("prom-client").Gauge<never>;
        refreshedAt: import("prom-client").Gauge<never>;
        canaryAge: import("prom-client").Gauge<"queue">;
        attemptsInFlight: import("prom-client").Gauge<never>;
        attemptSlots: import("prom-client").Gauge<never>;
        poolConnections: import("prom-client").Gauge<"pool" | "state">;
        poolWaiting: import("prom-client").Gauge<"pool">;
        poolSize: import("prom-client").Gauge<"pool">;
        ready: import("prom-client").Gauge<never>;
        buildInfo: import("prom-client").Gauge<"node" | "queue" | "role" | "version">;
    };
};
export declare const erase: (db: Database, shipmentId: string) => Promise<import("../../../src/events/erasure-store.js").MarkedShipment[]>;
/** An accepted order of which everything personal is planted. */
export declare function addPlantedOrder({ db, shipperId }: World, shipmentId?: string): Promise<string>;
/** Records states with planted evidences, claimed as far as there is room for. Returns the claims. */
export declare function recordPlanted(db: Database, shipmentId: string, states: string[], room?: import("../../../src/deliveries/outbox/hand-over.js").Room): Promise<Claim[]>;
/** What the claims' attempts brought: an answer with something planted, kept where answers are kept. */
export declare const answered: (db: Database, claims: Claim[], status: 'SUCCEEDED' | 'FAILED' | 'RETRY') => Promise<Map<string, number>>;
