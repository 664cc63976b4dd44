/** Where everything lies; all of it is ours. */
export interface Folder {
    dataDir: string;
    /** PostgreSQL's data folder; it appears by a rename when initdb is through, so what exists is whole. */
    cluster: string;
    logFile: string;
    passwordFile: string;
    portFile: string;
    ownerFile: string;
}
/** Makes `dataDir` where it is missing, closes it to others, and fails clearly where it cannot be used. */
export declare function prepareFolder(dataDir: string): Promise<Folder>;
/** Leaves the folder to its owner, who becomes the one given. A folder of somebody else's stays as it is. */
export declare function closeFolder(folder: string, owner?: {
    uid: number;
    gid: number;
}): Promise<void>;
/** The superuser's password: made once, readable by its owner only. */
export declare function readOrMakePassword(folder: Folder): Promise<string>;
/** Keeps the server's log bounded: over 10 MB it begins anew at a start. */
export declare function boundLog(logFile: string): Promise<void>;
