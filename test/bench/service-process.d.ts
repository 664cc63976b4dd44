export interface ServiceProcess {
    role: string;
    url: string;
    pid: number;
    /** From its start until `/readyz` answered 200. */
    readyMs: number;
    /** Throws, with the end of its log, where it has ended unasked. */
    check(): void;
    stop(): Promise<void>;
}
export interface Build {
    /** The folder with `main.js`. */
    dist: string;
    /** The Node binary that runs it. */
    node: string;
    nodeOptions: string[];
}
/** Starts one process of the service, its output going to `logFile`, and resolves when it is ready. */
export declare function startServiceProcess({ dist, node, nodeOptions }: Build, role: string, env: Record<string, string>, logFile: string): Promise<ServiceProcess>;
/** All that run, at once: for the way out. */
export declare function stopServiceProcesses(): Promise<void>;
