export declare const operatorToken = "operator-token-of-the-tests";
export interface RunningProcess {
    url: string;
    pid: number;
    /** Everything written so far to stdout and stderr. */
    output(): string;
    kill(signal: NodeJS.Signals): void;
    /** Exit code, or the signal that ended it. */
    exited: Promise<number | string>;
}
/**
 * Starts one process of a deployment and resolves when it listens; rejects with its output if it ends before.
 * `openFiles` is its `ulimit -n`.
 */
export declare function startProcess(env: Record<string, string>, role?: string, nodeOptions?: string[], openFiles?: number): Promise<RunningProcess>;
export declare function stopProcess(running: RunningProcess): Promise<number | string>;
