/** Is it well? */
export declare const overview: import("@grafana/grafana-foundation-sdk/cog").Builder<import("@grafana/grafana-foundation-sdk/dashboard").Dashboard>;
