import { type Target } from '../load.js';
import { type Percentiles } from '../percentiles.js';
import type { Bench, Figure } from './scenario.js';
/** Another shipper, who has one webhook and knows nothing of what goes on. */
export declare function registerOther(bench: Bench, url: string): Promise<Target>;
interface Noticed {
    accept: Percentiles;
    latency: Percentiles;
}
/** How long the other shipper's orders take to their 201, and from there to their receipt, while `work` goes on. */
export declare function watchOther(bench: Bench, other: Target, work: () => Promise<void>): Promise<Noticed>;
/** What the other's receiver noticed of the work. */
export declare const othersFigures: (alone: Noticed, meanwhile: Noticed) => Figure[];
export {};
