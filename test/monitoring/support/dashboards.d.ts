export interface Panel {
    dashboard: string;
    /** Title of the row it stands in. */
    row: string;
    title: string;
    description?: string;
    unit?: string;
    /** Whether something tells good from bad, or at least that nothing does. */
    hasThresholds: boolean;
    queries: {
        expr: string;
        datasource: string;
    }[];
}
/** The committed dashboards as Grafana loads them, by file name. */
export declare const dashboardTexts: () => Map<string, string>;
/** Every panel of every committed dashboard. */
export declare function panels(): Panel[];
