import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { finish, pull, record } from './acts.js';
import { addShipment, addWebhook, createWorld, picture, type World } from './world.js';

/** Shared by a file's tests, renewed before each. */
export let world: World;
export let webhookId: string;
export let shipmentId: string;

/** Call once per file: one world; before each test these tables empty, a new webhook, and an accepted shipment. */
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

export const now = (): Promise<string[]> => picture(world, webhookId);

export async function failForGood(state = 'CREATED'): Promise<void> {
  await record(world.db, shipmentId, [state]);
  await finish(world.db, await pull(world.db, webhookId), 'FAILED');
}
