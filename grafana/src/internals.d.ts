/** What goes on inside: queues, sweeper, PostgreSQL, processes. */
export declare const internals: import("@grafana/grafana-foundation-sdk/cog").Builder<import("@grafana/grafana-foundation-sdk/dashboard").Dashboard>;
