/** Nearly every answer is shorter; of an endless one, what is read is garbage faster than it is collected. */
export declare const READ_BYTES: number;
export interface BodyHead {
    /** False as soon as no more is to be read. */
    add(chunk: Buffer): boolean;
    text(): string;
}
/** The head of a response body: 8 KiB are read, so that the connection can be used again, 4 KiB are kept. */
export declare function createBodyHead(): BodyHead;
