/**
 * Metrics of the contract, section 8, that dashboards ask for and the service does not export yet. When one is there, its
 * line goes.
 */
export const toCome = [
  'database_size_bytes',
  'database_size_limit_bytes',
  'draining',
  'http_requests_total',
  'http_slow_by_design_duration_seconds',
  'order_oldest_uncreated_seconds',
  'order_to_created_seconds',
  'orders_uncreated',
  'partitions_ahead_days',
  'postgres_connections',
  'postgres_connections_limit',
  'postgres_transaction_id_age',
  'redis_memory_bytes',
  'redis_memory_limit_bytes',
  'retention_behind_days',
  'sendable_deliveries',
  'sendable_oldest_seconds',
  'sendable_seconds',
  'table_size_bytes',
  'waiting_deliveries',
  'webhooks_unserved',
].map((name) => `parcelhook_${name}`);
