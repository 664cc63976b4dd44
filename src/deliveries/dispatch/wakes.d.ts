export interface Wakes {
    /** Has the webhook looked at when its retry is due. */
    at(delayMs: number, webhookId: string): void;
    stop(): void;
}
/**
 * Remembers when retries of this process are due; those of one moment share a timer. What is forgotten, because there
 * are too many or the process ends, the sweeper finds.
 */
export declare function createWakes(look: (webhookIds: string[]) => void): Wakes;
