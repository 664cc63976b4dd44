import type { Closing } from './engines.js';
/** Something this machine does not allow: the fault was not run, which is neither a success nor a violation. */
export declare class NotRunnable extends Error {
}
export interface Disk {
    path: string;
    /** Leaves no room beyond what is used. */
    fill(): Promise<void>;
    free(): Promise<void>;
}
/** A tmpfs of its own at `path`, which takes the rights of root; unmounted at the end, come what may. */
export declare function smallDisk(path: string, sizeMb: number, closing: Closing): Disk;
