import type { Bench } from './scenario.js';
/** The default LOG_RETENTION; a partition a day. */
export declare const daysBack = 29;
/** A shipper whose log is filled. */
export interface LogOwner {
    shipperId: string;
    webhookIds: string[];
    kind: 'big' | 'many' | 'dead' | 'usual';
}
/**
 * Fills the log with about `count` deliveries by SQL, as the service would within its retention: 4 events a shipment,
 * states 5:5:5:4:1 and a few LOST; nearly all succeeded, few ended badly, a handful is open (due tomorrow or leased until
 * then, so that nobody sends it). The `big` shipper's first webhook has half of all, its second those of the last quarter of the
 * time, its third only the last states; `many` has a few of each of its webhooks; what the webhook of `dead` got
 * failed, and is held since. The rest is in equal parts the `usual` ones'.
 */
export declare function fillLog(bench: Bench, owners: LogOwner[], count: number): Promise<void>;
