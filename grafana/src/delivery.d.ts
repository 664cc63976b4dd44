/** What becomes of notifications, and why. */
export declare const delivery: import("@grafana/grafana-foundation-sdk/cog").Builder<import("@grafana/grafana-foundation-sdk/dashboard").Dashboard>;
