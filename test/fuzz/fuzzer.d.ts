import type fc from 'fast-check';
import { type Draft } from './requests.js';
export interface Fuzzer {
    requests: fc.Arbitrary<Draft>;
    /** Sends it; rejects where the answer is not one that the document promises. */
    probe(draft: Draft): Promise<void>;
    /** Answers by operation and HTTP status. */
    seen: Map<string, number>;
}
/** Fuzzes a running service by the document it serves: what it finds there is called, whatever it is. */
export declare function createFuzzer(service: {
    url: string;
}): Promise<Fuzzer>;
