export declare function someRandomBytes(count: number): Buffer;
/**
 * A new UUIDv7 (RFC 9562) of this moment; those of one moment count up. Left to itself, uuid never goes back: after a
 * clock was put back its ids would stay ahead for as long as that was, and with them all that is found by time.
 */
export declare function newId(atMs?: number): string;
/** Where the UUIDv7s of a moment begin. */
export declare const firstIdOf: (atMs: number) => string;
/** The moment of a UUIDv7, in milliseconds since 1970. */
export declare const timeOfId: (id: string) => number;
