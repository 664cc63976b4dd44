import fc from 'fast-check';
import type { Claim } from '../../../src/deliveries/outbox/types.js';
import { type World } from './world.js';
/** One thing that somebody does. */
export declare const step: fc.Arbitrary<{
    kind: "record";
    shipment: number;
    states: string[];
    claimed: boolean;
} | {
    kind: "pull";
    webhook: number;
    room: number;
} | {
    kind: "settle";
    count: number;
    status: "FAILED" | "RETRY" | "SUCCEEDED";
} | {
    kind: "pause";
    webhook: number;
} | {
    kind: "resume";
    webhook: number;
} | {
    kind: "turns";
    shipment: number;
} | {
    kind: "replay";
    webhook: number;
} | {
    kind: "lapse";
} | {
    kind: "sweep";
} | {
    kind: "delete";
}>;
export type Step = typeof step extends fc.Arbitrary<infer Kind> ? Kind : never;
/** Steps one after the other, some of them at the same time. */
export declare const walk: fc.Arbitrary<({
    kind: "record";
    shipment: number;
    states: string[];
    claimed: boolean;
} | {
    kind: "pull";
    webhook: number;
    room: number;
} | {
    kind: "settle";
    count: number;
    status: "FAILED" | "RETRY" | "SUCCEEDED";
} | {
    kind: "pause";
    webhook: number;
} | {
    kind: "resume";
    webhook: number;
} | {
    kind: "turns";
    shipment: number;
} | {
    kind: "replay";
    webhook: number;
} | {
    kind: "lapse";
} | {
    kind: "sweep";
} | {
    kind: "delete";
})[][]>;
/** What a walk is about, and what it did that can be seen from outside. */
export interface Walk {
    /** The last one is the one that may be deleted, the one before skips what is overtaken. */
    webhookIds: string[];
    shipmentIds: string[];
    claims: Claim[];
    /** Attempts that succeeded, in their order. */
    succeeded: Claim[];
    /** Deliveries that failed for good once: a replay may bring them back behind later ones. */
    failed: Set<string>;
}
export declare function beginWalk(world: World): Promise<Walk>;
export declare function take(world: World, walk: Walk, done: Step): Promise<void>;
