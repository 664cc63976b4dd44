import { Agent } from 'node:http';
import { type Account } from '../client.js';
export { now } from './clock.js';
export interface Target {
    url: string;
    accountKey: string;
    token: string;
}
export declare const target: (url: string, { accountKey, token }: Account) => Target;
/** When the 201 came for each tracking id, by the clock of `now`. */
export type Accepted = Map<string, number>;
/** One order over a kept connection; resolves with its tracking id when the 201 is there. */
export declare function place(target: Target, agent: Agent): Promise<string>;
/** As fast as `connections` requests at a time allow. */
export declare function placeOrders(target: Target, count: number, connections: number): Promise<Accepted>;
