/** By the start of the attempt; null without any. */
export const lastSuccessHour = (webhookId: string) => `greatest(
  (select hour from webhook_hours where webhook_id = ${webhookId} and hour <= now() and succeeded > 0
    order by hour desc limit 1),
  (select max(hour) from attempt_counts where webhook_id = ${webhookId} and hour <= now() and succeeded > 0))`;

/** Exact below 64 ms, then in steps of 8 %, so that none is off by more than 5 %. */
const rounded = (ms: string) =>
  `case when ${ms} < 64 then ${ms} else least(round(exp(round(ln(${ms}::float8) / 0.08) * 0.08)), 2147483647)::int end`;

/** durations_ms, duration_counts, p50_ms and p95_ms include folded hours; succeeded and failed are only `counts`. */
export const sumOfCounts = (counts: string) => `
  select webhook_id, hour, sum(succeeded)::int as succeeded, sum(failed)::int as failed,
         coalesce(array_agg(ms order by ms) filter (where ms is not null), '{}') as durations_ms,
         coalesce(array_agg(n order by ms) filter (where ms is not null), '{}') as duration_counts,
         min(ms) filter (where 2 * upto >= total) as p50_ms,
         min(ms) filter (where 20 * upto >= 19 * total) as p95_ms
    from (select *, sum(n) over (partition by webhook_id, hour order by ms) as upto,
                 sum(n) over (partition by webhook_id, hour) as total
            from (select webhook_id, hour, ms, sum(n)::int as n, sum(succeeded) as succeeded, sum(failed) as failed
                    from (select webhook_id, hour, null::int as ms, 0 as n, succeeded, failed from ${counts}
                          union all
                          select webhook_id, hour, ${rounded('ms')}, 1, 0, 0
                            from (select webhook_id, hour, unnest(durations_ms) as ms from ${counts}) d
                          union all
                          select webhook_id, hour, ms, n, 0, 0
                            from (select distinct webhook_id, hour from ${counts}) c
                           cross join lateral (
                             select durations_ms, duration_counts from webhook_hours
                              where webhook_id = c.webhook_id and hour = c.hour limit 1) h
                           cross join lateral unnest(h.durations_ms, h.duration_counts) as folded (ms, n)
                         ) all_counts
                   group by webhook_id, hour, ms) by_duration) ranked
   group by webhook_id, hour`;
