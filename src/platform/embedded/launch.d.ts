import { type Folder } from './folder.js';
import { type Runner } from './run-as.js';
/** A server process that we started, as far as its start-up is concerned. */
export interface Launch {
    /** Why it ended at once, or undefined while it runs. */
    failure(): {
        reason: string;
        isLockHeld: boolean;
        isPortTaken: boolean;
    } | undefined;
    /** Ends it although it may not have come up yet; for the way out after an error. */
    cancel(): Promise<void>;
}
/** Starts the server in a session of its own, so that Ctrl-C reaches us alone and we can drain first. */
export declare function launch(folder: Folder, runner: Runner, fixedPort?: number): Promise<Launch>;
