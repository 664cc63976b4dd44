import { type Accepted, type Target } from '../load.js';
import type { BenchReceiver } from '../processes.js';
export interface ProbeResult {
    accepted: Accepted;
    /** From request to 201. */
    acceptMs: number[];
}
/** A steady load of orders, shared out among `targets` in turn, whatever the answers (open loop). */
export declare function startProbe(targets: Target[], perSecond: number): {
    stop(): Promise<ProbeResult>;
};
export declare function probeFor(targets: Target[], perSecond: number, seconds: number): Promise<ProbeResult>;
/**
 * From each 201 to each receipt on the paths of `kind`, in milliseconds. Throws where not all of `expected`
 * notifications come within `timeoutMs`.
 */
export declare function latencies(receiver: BenchReceiver, { accepted }: ProbeResult, kind: string, expected: number, timeoutMs?: number): Promise<number[]>;
