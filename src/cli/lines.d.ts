/** A line of a file; `bytes` is null if it was longer than allowed. `endByte` is how far the file is read. */
export interface Line {
    number: number;
    bytes: Buffer | null;
    endByte: number;
}
/** Splits a stream into lines. Holds one line of at most `maxBytes`, whatever the size of the file. */
export declare function readLines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Line>;
/** An event as it stands in the file, or what is wrong with its line. */
export type Item = {
    line: number;
    json: string;
    sizeBytes: number;
    hasEventId: boolean;
} | {
    line: number;
    problem: string;
};
/** What a line holds; null if it is blank. What the event must have is for the service to say. */
export declare function parseLine({ number: line, bytes }: Line): Item | null;
