import type { Names } from '../../../src/deliveries/send/names/names.js';
import type { DestinationPolicy, Resolve } from '../../../src/webhooks/destination/destination.js';
export interface CorpusRow {
    id: string;
    verdict: string;
    url: string;
    dns: string;
    reason: string;
}
/** What the corpus assumes, see its header. */
export declare const corpusPolicy: DestinationPolicy;
export declare const developmentPolicy: DestinationPolicy;
export declare function corpusRows(...verdicts: string[]): CorpusRow[];
/** A resolver that answers what the corpus' DNS column says; the n-th call gets the n-th answer. */
export declare function stubResolver(dns: string): Resolve;
export declare const stubNames: (resolve: Resolve) => Names;
/** Of tests that use no name. */
export declare const noNames: Names;
