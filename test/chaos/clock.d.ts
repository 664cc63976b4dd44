import type { RunningProcess } from '../process.js';
import type { Span } from './model.js';
/** The wall clocks of the service's processes; nobody else's is touched. */
export interface Clocks {
    /** What a process is started with. */
    env: Record<string, string>;
    nodeOptions: string[];
    /** Resolves when they go wrong (0: right) by so much. */
    set(processes: RunningProcess[], offsetMs: number): Promise<void>;
    /** When any of them was wrong. */
    wrong(): Span[];
}
export declare function clocksIn(folder: string): Clocks;
