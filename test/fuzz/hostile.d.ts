import fc from 'fast-check';
/** Values that are nearly right, or that somebody sends to break something. */
export declare const hostileLeaf: fc.Arbitrary<unknown>;
/** What is done to one place of a value. */
type Change = {
    kind: 'replace' | 'remove' | 'add' | 'repeat';
    at: number;
    name: string;
    value: unknown;
};
export declare const changes: fc.Arbitrary<Change[]>;
/** Changes a copy of a body in one place. */
export declare function changed(body: unknown, { kind, at, name, value }: Change): unknown;
/** Bodies that are no body. */
export declare const hostileBytes: fc.Arbitrary<(text: string) => Buffer>;
/** Headers that take the place of right ones. */
export declare const hostileHeaders: fc.Arbitrary<Record<string, string>>;
/** Pairs that are added to a query. */
export declare const hostileQuery: fc.Arbitrary<[string, string]>;
export {};
