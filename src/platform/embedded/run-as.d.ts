import { type SpawnOptions } from 'node:child_process';
/** How PostgreSQL's programs are started, since they refuse to run as root. */
export interface Runner {
    native: string;
    /** Program and arguments that go before the one to run. */
    prefix: string[];
    /** What Node sets for the child, where no prefix does it. */
    ids: {
        uid?: number;
        gid?: number;
    };
    /** Whom the data folder must belong to; undefined where we are an ordinary user. */
    owner?: {
        uid: number;
        gid: number;
    };
}
/**
 * As an ordinary user: directly. As root: as `postgres` or `nobody`, to whom the data folder is given, with a copy of
 * the programs where node_modules is out of their reach; failing that (a folder they cannot enter) as one of them with
 * leave to pass file permissions, as root has it; failing that (no leave to become another user) in a user namespace
 * where root has another number.
 */
export declare function chooseRunner(native: string, dataDir: string): Promise<Runner>;
/** Gives a folder and all in it to whom the runner runs as; the folder itself last, so a break is redone. */
export declare function giveTo(runner: Runner, folder: string): Promise<void>;
export declare function programOf(runner: Runner, name: string): string;
export declare function commandLine(runner: Runner, program: string, args: string[]): {
    command: string;
    args: string[];
};
/** Only what PostgreSQL needs: our own secrets stay out of its environment, and no PG… variable gets in. */
export declare function spawnOptions(runner: Runner): SpawnOptions;
/** Runs one of PostgreSQL's programs to its end; rejects with what it printed. */
export declare function run(runner: Runner, name: string, programArgs: string[], timeoutMs?: number): Promise<void>;
