/** A notification that nobody takes for a real one, in the form of the specification. */
export declare const renderSample: (state: string, timestampMs: number) => string;
