/** A notification as it arrived. `problem` says why the signature is WRONG. */
export interface Received {
    webhookId: string | null;
    attempt: number | null;
    sequence: number | null;
    state: string | null;
    trackingId: string | null;
    signature: 'VERIFIED' | 'WRONG' | 'NOT_CHECKED';
    problem?: string;
    /** Parsed if it is JSON, else as text. */
    body: unknown;
}
export interface ReceiverOptions {
    /** 0 takes any free port. */
    port: number;
    /** What every notification is answered with. */
    httpStatus: number;
    delayMs: number;
    /** Asked for each notification, so that secrets can come later. None: the signature is not checked. */
    secrets(): readonly string[];
    onNotification(notification: Received): void;
}
/** Starts a receiver on 127.0.0.1. Only POST is a notification; a body over 1 MiB is answered with 413. */
export declare function startReceiver(options: ReceiverOptions): Promise<{
    port: number;
    close(): void;
}>;
