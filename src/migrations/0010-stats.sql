-- Up Migration

-- Attempts that ended, tests left out, counted by the statement that wrote them into the log: one row for each webhook
-- and hour of it. Rows are only added, so nobody waits for another, and soon folded into webhook_hours.
--   hour          in which they began
--   durations_ms  of those whose outcome is known; null without any
create table attempt_counts (
  webhook_id uuid not null,
  hour timestamptz not null,
  succeeded integer not null,
  failed integer not null,
  durations_ms integer[]
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 50000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
create index attempt_counts_by_webhook on attempt_counts (webhook_id);

-- Their sums: what a webhook's attempts of an hour came to, without what is not folded yet.
--   p50_ms, p95_ms   what half of the durations, and 95 % of them, do not exceed; null without any
--   durations_ms     which durations there were, rounded, the shortest first
--   duration_counts  how often there was each
create table webhook_hours (
  webhook_id uuid not null,
  hour timestamptz not null,
  succeeded integer not null,
  failed integer not null,
  p50_ms integer,
  p95_ms integer,
  durations_ms integer[] not null,
  duration_counts integer[] not null,
  primary key (webhook_id, hour)
) with (fillfactor = 50);
create index webhook_hours_by_age on webhook_hours (hour);
