/** Runs Schemathesis against a service, with the proofs of an account; what it found is on the terminal. */
export declare function runSchemathesis(program: string, url: string, { examples, seed }: {
    examples: number;
    seed: number;
}): Promise<string[]>;
