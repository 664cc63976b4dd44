import type { Account } from '../../client.js';
import type { Service } from '../../harness.js';
/** As if the time until the delivery's retry were over; with nobody told, so that a sweep sends it. */
export declare const hasten: (service: Service, deliveryId: string) => Promise<Record<string, unknown>[]>;
/** Asks for a redelivery without telling a worker: only a sweep sees it. */
export declare const askUnheard: (service: Service, deliveryId: string) => Promise<Record<string, unknown>[]>;
/** A test whose process was killed during its attempt, and whose lease has run out; its deliveryId. */
export declare function insertLostTest(service: Service, { shipperId }: Account, webhookId: string): Promise<string>;
