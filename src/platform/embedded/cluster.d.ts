import type { Folder } from './folder.js';
import { type Runner } from './run-as.js';
/** The server's superuser. */
export declare const USER = "parcelhook";
/** Makes the data folder if there is none, and makes sure that it belongs to whom the server runs as. */
export declare function ensureCluster(folder: Folder, runner: Runner, password: string): Promise<void>;
