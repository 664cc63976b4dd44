export interface Weather {
    /** Added to every answer. */
    latencyMs: number;
    /** Share of the packets with which a connection is reset. */
    resetShare: number;
    /** New connections are taken, and nothing comes through them. */
    swallowsNew: boolean;
    /** Where new connections go. */
    targetPort: number;
}
/** `swallowOpen`: from now on nothing comes through the connections there are, and neither side hears of it. */
export type Order = Partial<Weather> & {
    swallowOpen?: boolean;
};
