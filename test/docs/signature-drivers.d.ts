/**
 * How the README's examples are run. Each program takes five arguments per request (secret, id, timestamp, signatures;
 * an empty one is a header that is missing; and the body in base64) and prints true or false for each.
 */
export interface Example {
    /** What must be on the path. */
    tools: string[];
    /** Where the README's code goes. */
    file: string;
    files: Record<string, string>;
    build?: string[][];
    run(folder: string): string[];
    /** Where it runs; default: where its files are. */
    cwd?: string;
}
/** By the language of the README's code block, in its order. */
export declare const examples: Record<string, Example>;
