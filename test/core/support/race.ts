import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { addShipment, addWebhook, createWorld, picture, type World } from './world.js';

/** What a file's tests have in common, made anew before each. */
export let world: World;
export let webhookId: string;
export let shipmentId: string;

/**
 * To be called once in a file: a world for all of its tests, and for each of them these tables empty, a webhook, and a
 * shipment that was accepted.
 */
export function setUpRaces(tables = 'outbox, webhooks, circuits'): void {
  beforeAll(async () => {
    world = await createWorld();
  });
  afterAll(() => world.stop());
  beforeEach(async () => {
    await world.sql(`truncate ${tables} cascade`);
    webhookId = await addWebhook(world);
    shipmentId = await addShipment(world);
  });
}

/** What has become of the webhook's deliveries. */
export const now = (): Promise<string[]> => picture(world, webhookId);
