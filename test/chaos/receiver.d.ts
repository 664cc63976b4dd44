export interface PathOptions {
    path: string;
    secret: string;
    /** Share of the requests that are answered with 503. */
    failing: number;
}
