import type { Figure } from '../bench/scenarios/scenario.js';
/** How many connections from these ports to that one somebody has open at its end (Linux): those have an inode. */
export declare function heldFrom(clientPorts: ReadonlySet<number>, servicePort: number): number;
/** Looks again and again at what a process takes, until it is asked. */
export declare function watchProcess(pid: number): () => {
    mostMb: number;
    mostOpen: number;
};
/** Asks `/healthz` on connections of its own until it is stopped. */
export declare function probeHealth(url: string): {
    stop(): Promise<Figure[]>;
};
