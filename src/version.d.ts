/** Where `package.json` lies: what the code reads from disk is found from there, built or not. */
export declare const packageFolder: string;
declare const version: string;
export { version };
export declare const userAgent: string;
