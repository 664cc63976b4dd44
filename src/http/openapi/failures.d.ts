/** A failure as the document describes it. */
export interface Failure {
    /** Of its component. */
    name: string;
    code: string;
    description: string;
    message: string;
    details?: {
        path: string;
        message: string;
    }[];
    headers?: string[];
}
/** By HTTP status (contract, section 2). */
export declare const failures: Record<number, Failure>;
/** Of any other HTTP status. */
export declare const unexpected: Failure;
