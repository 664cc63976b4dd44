import { Counter, Gauge, Histogram } from 'prom-client';
/**
 * Every metric of the service, each declared once (contract, section 8). Base units, as Prometheus wants them:
 * seconds, bytes. No label holds a tenant, a URL or an id.
 */
export declare function createMetrics(): {
    contentType: "text/plain; version=0.0.4; charset=utf-8";
    /** All metrics in the text format of Prometheus. */
    text: () => Promise<string>;
    /** Has `read` set gauges of this process before each scrape; it must be quick. */
    onScrape: (read: () => void) => undefined;
    ordersAccepted: Counter<never>;
    httpDuration: Histogram<"method" | "route" | "status">;
    eventsRecorded: Counter<"state">;
    fannedOut: Counter<never>;
    attempts: Counter<"outcome" | "status_class">;
    attemptDuration: Histogram<"outcome">;
    eventToFirstAttempt: Histogram<never>;
    eventToSuccess: Histogram<never>;
    completed: Counter<"status">;
    retriesScheduled: Counter<never>;
    exhausted: Counter<never>;
    lateResults: Counter<never>;
    circuitTransitions: Counter<"to">;
    webhooksDisabled: Counter<"reason">;
    swept: Counter<"kind">;
    shipmentsErased: Counter<"cause">;
    removalRows: Counter<"rows">;
    rateLimited: Counter<"limit">;
    connectionsDropped: Counter<"reason">;
    connections: Gauge<never>;
    connectionsLimit: Gauge<never>;
    batchSize: Histogram<"batch">;
    deliveriesOpen: Gauge<"status">;
    oldestWaiting: Gauge<never>;
    circuitsOpen: Gauge<never>;
    webhooks: Gauge<"status">;
    queueJobs: Gauge<"queue" | "state">;
    queueOldestWaiting: Gauge<"queue">;
    shippersToRemove: Gauge<never>;
    refreshedAt: Gauge<never>;
    canaryAge: Gauge<"queue">;
    attemptsInFlight: Gauge<never>;
    attemptSlots: Gauge<never>;
    poolConnections: Gauge<"pool" | "state">;
    poolWaiting: Gauge<"pool">;
    poolSize: Gauge<"pool">;
    ready: Gauge<never>;
    buildInfo: Gauge<"node" | "queue" | "role" | "version">;
};
export type Metrics = ReturnType<typeof createMetrics>;
