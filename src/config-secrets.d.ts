import { z } from 'zod';
import type { OperatorScope } from './http/route.js';
export declare const longSecret: (length: number) => z.ZodString;
/** Bearer tokens of the operator API, each with a name for the audit log and what it allows. */
export declare const operatorTokens: z.ZodPipe<z.ZodString, z.ZodTransform<{
    name: string;
    scope: OperatorScope;
    token: string;
}[], string>>;
export interface Secrets {
    TOKEN_SECRET?: string | undefined;
    TOKEN_SECRET_PREVIOUS?: string | undefined;
    SECRETS_KEY?: string | undefined;
    SECRETS_KEY_PREVIOUS?: string | undefined;
    OPERATOR_TOKEN?: string | undefined;
    OPERATOR_TOKENS?: {
        token: string;
    }[] | undefined;
}
/** Says of every secret that is another one, too, which: who learns the lesser has the greater. */
export declare function equalSecrets(values: Secrets): string[];
