/** Panels that stand in more than one dashboard. Functions, since a builder belongs to one of them. */
export declare const failingShare: () => import("@grafana/grafana-foundation-sdk/timeseries").PanelBuilder;
export declare const oldestWaiting: () => import("@grafana/grafana-foundation-sdk/timeseries").PanelBuilder;
export declare const toFirstAttempt: () => import("@grafana/grafana-foundation-sdk/timeseries").PanelBuilder;
export declare const openDeliveries: () => import("@grafana/grafana-foundation-sdk/timeseries").PanelBuilder;
