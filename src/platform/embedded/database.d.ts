/** The database as the service uses it, under a role of its own. */
export declare const connectionStringFor: (port: number, password: string) => string;
/** As the superuser, whose password is given. */
export declare const superuserConnectionString: (port: number, password: string, database?: string) => string;
/** Resolves when the server answers the service in our database; role and database are made if missing. */
export declare function ensureDatabase(port: number, password: string): Promise<void>;
