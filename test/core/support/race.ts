import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { finish, pull, record } from './acts.js';
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

/** A state of the shipment is sent, and fails for good. */
export async function failForGood(state = 'CREATED'): Promise<void> {
  await record(world.db, shipmentId, [state]);
  await finish(world.db, await pull(world.db, webhookId), 'FAILED');
}
