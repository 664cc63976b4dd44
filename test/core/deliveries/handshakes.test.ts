import { expect, test } from '@jest/globals';
import { dueSinceUnknown } from '../../../src/engine/outbox/types.js';
import { failedOutcome } from '../../../src/engine/send/messages.js';
import type { Sending } from '../../../src/engine/send/threads.js';
import { record } from '../../support/core/acts.js';
import { startDispatcher } from '../../support/core/dispatcher.js';
import { setUpRaces, webhookId, world } from '../../support/core/race.js';
import { addShipment, outboxOf } from '../../support/core/world.js';
import { until } from '../../support/until.js';

setUpRaces('outbox, webhooks, circuits, events, deliveries, attempts');

test('a receiver whose handshake took long counts as slow for a while, although its next responses are quick', async () => {
  const isProved: boolean[] = [];
  const send: Sending['send'] = (sent) => {
    isProved.push(sent.isProved);
    const isHeavy = isProved.length === 2;
    return Promise.resolve({
      ...failedOutcome('HTTP_STATUS', new Date(), 5),
      ok: true,
      statusCode: 200,
      isHeavy,
    });
  };
  const dispatcher = startDispatcher(world, 'https://receiver.test/', { sending: { send } });
  for (let n = 0; n < 5; n += 1) {
    await record(world.db, await addShipment(world), ['CREATED']);
    dispatcher.notify(dueSinceUnknown([webhookId]));
    await until('it is settled', async () => (await outboxOf(world)).length === 0);
  }
  await dispatcher.drain();
  expect(isProved).toEqual([false, true, false, false, false]);
});
