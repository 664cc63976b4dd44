export declare function rssMb(pid: number): number;
export declare function rssBytes(pid: number): number;
/** When a notification came first, and when it was first answered with 200. */
export interface Receipt {
    arrivedAt: number;
    deliveredAt: number;
}
export interface BenchReceiver {
    url: string;
    pid: number;
    /** All requests, or those whose path begins with the segment `kind`. */
    count(kind?: string): Promise<{
        received: number;
        lastAt: number;
    }>;
    /** When each tracking id arrived first on each path (`/path PH…`), by the clock of `now`. */
    arrivals(): Promise<Map<string, number>>;
    /** How many requests came, and how many notifications (a tracking id on a path) were answered with 200. */
    progress(): Promise<{
        received: number;
        delivered: number;
        lastDeliveredAt: number;
    }>;
    /** Of every notification that was answered with 200, by path and tracking id (`/path PH…`). */
    receipts(): Promise<Map<string, Receipt>>;
    /** Forgets what came, and cuts off those left without an answer. */
    reset(): Promise<void>;
    stop(): void;
}
export declare function startReceiverProcess(): Promise<BenchReceiver>;
