/** The database made by the real migrations, of which every service under test gets its own copy. */
export declare const templateDatabase = "parcelhook_template";
/** Creates a database next to the one named, as a copy of `template` if given; its connection string. */
export declare function createDatabase(connectionString: string, name: string, template: string | null): Promise<string>;
export declare const dropDatabase: (connectionString: string, name: string) => Promise<void>;
