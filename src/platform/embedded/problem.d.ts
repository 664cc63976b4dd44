export declare const USE_YOUR_OWN = "set DATABASE_URL to use your own PostgreSQL \u2265 15";
/** The one error a caller sees: what is wrong, then what to do about it. */
export declare function problem(what: string, remedy: string, cause?: unknown): Error;
/** For what nobody foresaw, which with files is nearly always a matter of permissions or space. */
export declare function asProblem(error: unknown, dataDir: string): Error;
/** The code of a Node or PostgreSQL error (`ENOENT`, `28P01`), or an empty string. */
export declare function codeOf(error: unknown): string;
export declare function messageOf(error: unknown): string;
