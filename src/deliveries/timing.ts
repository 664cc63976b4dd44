/** A claim holds this long unless it is renewed; after a kill -9, its delivery is taken up again then. */
export const leaseMs = 10_000;

/** How long after its due moment a delivery that nobody claimed is taken for forgotten. */
export const sweepAfterMs = 10_000;

/** A claimed delivery is sent within this time or not at all. */
export const longestStartMs = 500;

/** How long the sweeper leaves alone what it has enqueued again. */
export const quietMs = 10_000;

/** The sweeper enqueues more only while fewer jobs than this wait: the queue stays small whatever the backlog. */
export const shortQueueJobs = 200;
