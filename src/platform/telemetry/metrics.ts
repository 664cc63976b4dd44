import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { Exemplars } from './exemplars.js';
import { forget, replicationFigures } from './figures.js';
import { withoutExport, type Tracing } from './tracing.js';

const requestSeconds = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const slowRequestSeconds = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];
const toSeconds = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 4, 5, 6, 7.5, 10, 15, 20, 30,
];
const attemptSeconds = [...toSeconds, 45, 60];
/** 1 ms to 1 day: waits, and from an event to its delivery, retries included. Each bucket is at most half as long again. */
const latencySeconds = [
  ...attemptSeconds,
  ...[90, 120, 180, 300, 450, 600, 900, 1_200, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 86_400],
];
const taskSeconds = [0.01, 0.1, 1, 10, 60];
const batchItems = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

const prefix = 'parcelhook_';

/**
 * The library's default of 10 ms wakes an idle process a hundred times a second: half a percent of a core. The measured
 * lag includes this interval; the alert rule and the panel subtract it.
 */
const eventLoopEveryMs = 50;

/** Metrics are in the base units of Prometheus: seconds, bytes. No label has a tenant, a URL or an id. */
export function createMetrics(tracing: Pick<Tracing, 'isExporting' | 'isExported'> = withoutExport) {
  const registry = new Registry();
  const named = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) => ({
    name: `${prefix}${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  const counter = <Label extends string = never>(name: string, help: string, labels?: readonly Label[]) =>
    new Counter(named(name, help, labels));
  /** Starts each value at zero: to Prometheus, a counter that first appears at 1 has not increased. */
  const counterOf = <Label extends string>(name: string, help: string, label: Label, values: string[]) => {
    const made = counter(name, help, [label]);
    for (const value of values) made.inc({ [label]: value } as Record<Label, string>, 0);
    return made;
  };
  const gauge = <Label extends string = never>(name: string, help: string, labels?: readonly Label[]) =>
    new Gauge(named(name, help, labels));
  const histogram = <Label extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labels?: readonly Label[],
  ) =>
    Object.assign(new Histogram({ ...named(name, help, labels), buckets }), {
      bucketName: `${prefix}${name}_bucket`,
      bounds: buckets,
    });
  collectDefaultMetrics({ register: registry, prefix, eventLoopMonitoringPrecision: eventLoopEveryMs });
  const readers: (() => void)[] = [];
  const askers: (() => Promise<void>)[] = [];
  /** A gauge that has no series until its value is known. */
  const figure = <Label extends string = never>(name: string, help: string, labels?: readonly Label[]) => {
    const made = gauge(name, help, labels);
    forget(made);
    return made;
  };

  return {
    /** Null where no traces are exported. */
    exemplars: tracing.isExporting ? new Exemplars(tracing.isExported) : null,
    contentType: registry.contentType,
    text: async () => {
      await Promise.all(askers.map((ask) => ask()));
      for (const read of readers) read();
      return registry.metrics();
    },
    /** Runs before each scrape; it must be quick. */
    onScrape: (read: () => void) => void readers.push(read),
    /**
     * Runs before the readers, whose figures do not count its statements. The scrape waits for it; it must not reject.
     */
    askOnScrape: (ask: () => Promise<void>) => void askers.push(ask),

    ordersAccepted: counter('orders_accepted_total', 'Orders committed and accepted with 201.'),
    httpRequests: counter(
      'http_requests_total',
      'Requests by status; 499: the client gave up before the response. Method OTHER: one that the route does not accept.',
      ['route', 'method', 'status'],
    ),
    httpDuration: histogram(
      'http_request_duration_seconds',
      "Time from the arrival of a request to its response. Left out: uploading the body, downloading the response, waiting for the shipper's own requests, and requests that are slow by design. Failed requests (4xx, 499, 5xx) are counted by API, not by route.",
      requestSeconds,
      ['route', 'method', 'status'],
    ),
    httpSlowByDesign: histogram(
      'http_slow_by_design_duration_seconds',
      'The same for requests that hash a password, wait for a receiver (/test) or wait for events (long polls).',
      slowRequestSeconds,
      ['route'],
    ),
    eventsRecorded: counter('events_recorded_total', 'State events committed.', ['state']),
    orderToCreated: histogram(
      'order_to_created_seconds',
      'Time from the acceptance of an order to the commit that created its shipment.',
      latencySeconds,
    ),
    sendable: histogram(
      'sendable_seconds',
      'How long at least a delivery was sendable before its attempt began: since it was due, in turn, its webhook called, and since its receiver last had as many attempts as its lane allows.',
      latencySeconds,
    ),
    fannedOut: counter('notifications_fanned_out_total', 'Notifications owed for recorded events.'),
    attempts: counter(
      'delivery_attempts_total',
      'Attempts that ended: SUCCEEDED or the error code, and the class of the status code (none without a response).',
      ['outcome', 'status_class'],
    ),
    attemptDuration: histogram(
      'delivery_attempt_duration_seconds',
      'Duration of an attempt: DNS lookup, connection, request and response.',
      attemptSeconds,
      ['outcome'],
    ),
    eventToFirstAttempt: histogram(
      'event_to_first_attempt_seconds',
      'Time from the recording of an event to the start of the first attempt.',
      latencySeconds,
    ),
    eventToSuccess: histogram(
      'event_to_success_seconds',
      'Time from the recording of an event to the success of its delivery.',
      latencySeconds,
    ),
    completed: counterOf(
      'deliveries_completed_total',
      'Deliveries ended by an attempt, without tests.',
      'status',
      ['SUCCEEDED', 'FAILED'],
    ),
    retriesScheduled: counter('retries_scheduled_total', 'Failed attempts that will be retried.'),
    exhausted: counter('deliveries_exhausted_total', 'Deliveries whose retries are used up.'),
    webhooksExhausted: figure(
      'webhooks_exhausted',
      'Webhooks for which this worker used up the retries of a delivery in the last hour (counted up to 10,000).',
    ),
    refused: counter(
      'deliveries_refused_total',
      'Deliveries that failed because their receivers asked for no further attempt.',
    ),
    lateResults: counter(
      'late_results_total',
      'Results refused because the lease of their attempt had expired.',
    ),
    circuitTransitions: counterOf('circuit_transitions_total', 'Circuits that opened or closed.', 'to', [
      'open',
      'closed',
    ]),
    webhooksDisabled: counterOf('webhooks_disabled_total', 'Webhooks disabled by the service.', 'reason', [
      'GONE',
      'REFUSED',
      'FAILING',
    ]),
    swept: counterOf(
      'sweeper_reenqueued_total',
      'Attempts whose lease expired, and forgotten orders, taken up again.',
      'kind',
      ['delivery', 'order'],
    ),
    oldestLapsedClaim: figure(
      'oldest_lapsed_claim_seconds',
      'Time since the oldest expired lease ended; 0 if there is none.',
    ),
    walkedAt: figure(
      'outbox_walked_timestamp_seconds',
      'When this process last finished a walk over the whole outbox, or began its first.',
    ),
    taskSucceededAt: gauge(
      'background_task_succeeded_timestamp_seconds',
      'When a background task last succeeded in this process, or was started.',
      ['task'],
    ),
    taskFailures: counter('background_task_failures_total', 'Failed runs of a background task.', ['task']),
    taskInterval: gauge(
      'background_task_interval_seconds',
      'Interval of a background task; a task that reads for long runs down to a quarter as often.',
      ['task'],
    ),
    taskDuration: histogram(
      'background_task_duration_seconds',
      'Duration of a run of a background task.',
      taskSeconds,
      ['task'],
    ),
    shipmentsErased: counterOf(
      'shipments_erased_total',
      'Shipments whose personal data was erased, by cause.',
      'cause',
      ['operator', 'retention'],
    ),
    removalRows: counterOf('removal_rows_total', 'Rows of removed shippers deleted, by table.', 'rows', [
      'webhooks',
      'outbox',
      'deliveries',
      'orders_to_create',
      'events',
      'idempotency_keys',
      'users',
    ]),
    mails: counterOf(
      'mails_total',
      'Attempts to send an e-mail; refused: the server will never take it; expired: given up after a day.',
      'outcome',
      ['sent', 'retried', 'refused', 'expired'],
    ),
    rateLimited: counterOf('rate_limited_total', 'Requests refused with 429.', 'limit', [
      'api',
      'login_account',
      'login_ip',
      'login_crowd',
      'by_hand',
      'webhook_creation',
      'webhook_change',
      'token_creation',
      'stored_bytes',
      'simulation',
      'at_once',
      'feed',
    ]),
    connectionsDropped: counterOf(
      'http_connections_dropped_total',
      'Connections that found no room (refused), made room for another while idle (displaced), were closed because all connections together held too much (overfull), or sent more than 64 line ends between two requests (blank).',
      'reason',
      ['refused', 'displaced', 'overfull', 'blank'],
    ),
    connections: gauge('http_connections', 'Open connections to this process.'),
    feedWaiting: gauge('feed_waiting', 'Requests for the feed that wait for events.'),
    connectionsLimit: gauge('http_connections_limit', 'Maximum number of connections to this process.'),
    storedBytes: counter(
      'stored_bytes_total',
      'Bytes counted against STORED_BYTES_PER_DAY: orders, events, responses of receivers.',
    ),
    batchSize: histogram('batch_size', 'Items that shared a statement.', batchItems, ['batch']),

    deliveriesOpen: figure(
      'deliveries_open',
      'Deliveries in the outbox (counted like sendable_deliveries).',
      ['status'],
    ),
    deliveriesUncalled: figure(
      'deliveries_uncalled',
      'Deliveries owed to webhooks that are not called: paused, disabled, with an open circuit, or of a suspended shipper (counted up to 200,000, the same maximum for each webhook).',
    ),
    oldestWaiting: figure(
      'delivery_oldest_waiting_seconds',
      'How long the oldest due attempt has waited for a worker.',
    ),
    sendableDeliveries: figure(
      'sendable_deliveries',
      'Deliveries that are sendable now, as PostgreSQL has them, and those for which this worker has no free place (the same maximum for each webhook; about 50,000 in all).',
    ),
    sendableOldest: figure(
      'sendable_oldest_seconds',
      'How long the oldest sendable delivery has been sendable; 0 if there is none.',
    ),
    waitingDeliveries: figure(
      'waiting_deliveries',
      'Deliveries that wait for what is not ours, by cause (counted like sendable_deliveries).',
      ['cause'],
    ),
    webhooksUnserved: figure(
      'webhooks_unserved',
      'Webhooks that are owed something and not served now, by cause; slow: their receiver has as many attempts under way as it may; failing: no success since the last failure.',
      ['cause'],
    ),
    ordersUncreated: figure(
      'orders_uncreated',
      'Accepted orders whose shipment is not created yet (counted up to 10,000).',
    ),
    orderOldestUncreated: figure(
      'order_oldest_uncreated_seconds',
      'Age of the oldest accepted order whose shipment is not created yet; 0 if there is none.',
    ),
    mailOldestOwed: figure(
      'mail_oldest_owed_seconds',
      'Age of the oldest e-mail that is owed; 0 if there is none. None without SMTP_URL.',
    ),
    circuitsOpen: figure('circuits_open', 'Webhooks with an open circuit.'),
    webhooks: figure('webhooks', 'Registered webhooks.', ['status']),
    queueJobs: figure('queue_jobs', 'Jobs in the queue.', ['queue', 'state']),
    queueOldestWaiting: figure('queue_oldest_waiting_seconds', 'Age of the oldest waiting job.', ['queue']),
    shippersToRemove: figure('shippers_to_remove', 'Removed shippers with data left to delete.'),
    oldestSnapshot: figure(
      'postgres_oldest_snapshot_seconds',
      'How long the oldest transaction visible to the role has kept dead rows from vacuum.',
    ),
    refreshedAt: figure(
      'metrics_refreshed_timestamp_seconds',
      'When the gauges of the whole deployment were last read.',
    ),

    canaryAge: gauge(
      'queue_canary_age_seconds',
      'Time since this process last received a job; a canary is sent every 10 s.',
      ['queue'],
    ),
    attemptsInFlight: gauge('attempts_in_flight', 'Attempts under way in this process.'),
    attemptSlots: gauge(
      'attempt_slots',
      'Attempts this process may make at once to quick receivers; as many again to unknown ones, and five times as many to slow ones.',
    ),
    senderThreadBusy: counter(
      'sender_thread_busy_seconds_total',
      'Time in which a sender thread was not idle; its rate is its share of a core.',
      ['thread'],
    ),
    senderThreadDelay: gauge(
      'sender_thread_delay_seconds',
      'Longest wait of a message for the event loop of its sender thread since the last scrape.',
      ['thread'],
    ),
    senderThreadsLost: counterOf(
      'sender_threads_lost_total',
      'Sender threads that ended while they were needed, or gave no sign of life for 5 s; others take their places.',
      'cause',
      ['exit', 'error', 'memory', 'stuck'],
    ),
    databaseSize: figure('database_size_bytes', 'Size of the database on disk.'),
    databaseSizeLimit: figure('database_size_limit_bytes', 'DATABASE_SIZE_LIMIT, if it is set.'),
    tableSize: figure(
      'table_size_bytes',
      'Size of a table with its partitions and indexes; the largest, as a worker sees them.',
      ['table'],
    ),
    partitionsAhead: figure(
      'partitions_ahead_days',
      'How far into the future the partitions of a table reach.',
      ['table'],
    ),
    retentionBehind: figure(
      'retention_behind_days',
      'How long the oldest data of a table has exceeded its retention; 0 if none has.',
      ['table'],
    ),
    databaseConnections: figure(
      'postgres_connections',
      'Open connections to PostgreSQL, from any program, that count towards the nearest limit: that of the server, the database or the role.',
    ),
    databaseConnectionsLimit: figure(
      'postgres_connections_limit',
      'That limit, without the connections that are reserved for superusers.',
    ),
    transactionIdAge: figure(
      'postgres_transaction_id_age',
      'Transactions since the oldest one that is not frozen, in any database of the server; it stops at 2 billion.',
    ),
    ...replicationFigures(figure),
    redisMemory: figure(
      'redis_memory_bytes',
      'Memory used by Redis; in a cluster, by the node nearest to its limit.',
    ),
    redisMemoryLimit: figure('redis_memory_limit_bytes', 'The maxmemory of that node, if it is set.'),

    poolConnections: gauge('postgres_pool_connections', 'Connections to PostgreSQL.', ['pool', 'state']),
    poolWaiting: gauge('postgres_pool_waiting', 'Callers waiting for a connection.', ['pool']),
    poolSize: gauge('postgres_pool_size', 'Maximum number of connections of a pool.', ['pool']),
    clockAhead: figure(
      'clock_ahead_seconds',
      "How far the clock of the process is ahead of PostgreSQL's; negative if it is behind.",
    ),
    ready: gauge('ready', '1 while this process is ready for work.', ['role']),
    draining: gauge('draining', '1 from the signal to stop until this process ends.', ['role']),
    buildInfo: gauge('build_info', 'Version, commit, role and queue of this process; always 1.', [
      'version',
      'commit',
      'node',
      'role',
      'queue',
    ]),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
