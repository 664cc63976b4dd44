import { type Target } from '../load.js';
import { type Bench } from './scenario.js';
/** The states after CREATED. */
export declare const onTheWay: string[];
/** Hands over orders by the API and waits until all are created; their tracking ids. */
export declare function createShipments(bench: Bench, target: Target, count: number): Promise<string[]>;
/** Records a state of every shipment, then the next of every one, by `POST /operator/v1/events`. */
export declare function recordStates(bench: Bench, url: string, trackingIds: string[], states: string[]): Promise<void>;
