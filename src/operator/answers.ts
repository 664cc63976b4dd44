import * as z from 'zod';
import { replayProgress } from '../deliveries/replay/answers.js';
import { described } from '../http/described.js';
import { details, moment, uuid } from '../http/request/fields.js';
import { waitReasons } from './explanation.js';

const count = (description: string) => described(z.int().min(0), description, 0);
const setPasswordUrl = described(
  z.string(),
  'Give it to the user: good for one use and 24 hours.',
  'https://parcelhook.example.com/set-password?token=Zm9yLXRoZS1kb2N1bWVudC1vbmx5LW5vdC1hLWxpbms',
  { format: 'uri' },
);

export const shipper = z
  .object({
    shipperId: uuid('Identifier of the shipper.'),
    accountKey: described(
      z.string(),
      'Account key of all its users; shown only here.',
      'ak_AAECAwQFBgcICQoLDA0ODxAREhM',
    ),
  })
  .meta({ id: 'Shipper', description: 'The shipper with its account key, which is shown only here.' });

export const user = z
  .object({ userId: uuid('Identifier of the user.'), setPasswordUrl })
  .meta({ id: 'User', description: 'The user with a link to set a password.' });

export const passwordLink = z.object({ setPasswordUrl }).meta({ description: 'The link.' });

const eventId = described(
  z.string(),
  "The event: your own `eventId`, or the service's. It is the `webhook-id` of its notifications.",
  'scan-20261121-0001',
);
export const recorded = z.object({ eventId }).meta({
  id: 'RecordedEvent',
  description: 'The event is recorded, and the notifications of it are owed.',
});

const refused = z
  .object({
    error: z.object({
      status: described(z.string(), 'The code of the failure.', 'CONFLICT'),
      message: described(
        z.string(),
        'What went wrong.',
        'A shipment cannot change from DELIVERED to IN_TRANSIT; nothing follows DELIVERED.',
      ),
      details,
    }),
  })
  .meta({ id: 'RefusedEvent', description: 'The event was not recorded.' });

export const recordedMany = z
  .object({ results: described(z.array(z.union([recorded, refused])), 'One for each event, in order.') })
  .meta({ description: 'What became of each event.' });

export const resealed = z
  .object({
    resealed: count(
      'Webhooks whose secrets, headers or query were sealed with another key, and now are with the current one.',
    ),
    unreadable: count('Webhooks with something that neither key opens.'),
  })
  .meta({ id: 'ResealedSecrets', description: 'What became of what webhooks keep sealed.' });

export const feedRenewed = z
  .object({ renewedAt: moment('Since then, earlier cursors are refused with 400.') })
  .meta({ id: 'RenewedFeed', description: 'The feed has begun anew.' });

const uncalled = {
  deliveries: count(
    'Deliveries owed; counted up to 200,000 in total, up to the same number for each webhook.',
  ),
  isMore: described(z.boolean(), 'Whether there are more deliveries than were counted.', false),
  webhooks: count('Webhooks to which they are owed.'),
};

export const status = z
  .object({
    queues: described(
      z.record(
        z.string(),
        z.union([
          z.record(z.string(), z.int()),
          z.object({ error: described(z.string(), 'Why it cannot be asked.', 'ECONNREFUSED') }),
        ]),
      ),
      'Jobs by queue and state, or why a queue cannot be asked.',
      { creation: { waiting: 0, active: 1, delayed: 0 } },
    ),
    lag: z.object({
      ordersToCreate: count('Orders whose shipment is not created yet; counted up to 10,000.'),
      deliveriesDue: count('Deliveries that are due; counted up to 10,000.'),
      oldestDueSeconds: count('How long the oldest has been due.'),
    }),
    uncalled: z
      .object({
        ...uncalled,
        shippers: described(
          z.array(
            z
              .object({
                shipperId: uuid('The shipper.'),
                name: described(z.string(), 'Its name.', 'Acme Books'),
                ...uncalled,
              })
              .meta({
                id: 'UncalledOfShipper',
                description: 'What a shipper is owed for webhooks that are not called.',
              }),
          ),
          'The shippers that are owed the most, at most 10.',
        ),
      })
      .meta({
        description:
          'What is owed to webhooks that are not called: paused, disabled, given a rest, or of a suspended shipper.',
      }),
    openCircuits: count('Webhooks that are given a rest.'),
    circuits: described(
      z.array(
        z
          .object({
            webhookId: uuid('The webhook.'),
            shipperId: uuid('Its shipper.'),
            failingSince: moment(
              'Its first failure since its last success; null where an attempt that was under way has succeeded since.',
            ).nullable(),
            nextProbeAt: moment('When it is tried next.'),
          })
          .meta({ id: 'OpenCircuit', description: 'A webhook that is given a rest.' }),
      ),
      'Which webhooks those are: at most 100, those that began to fail last first.',
    ),
    replays: described(z.array(replayProgress), 'Replays under way and the newest of those that are over.'),
    versions: z.object({
      parcelhook: described(z.string(), 'Version of the service.', '1.0.0'),
      node: described(z.string(), 'Version of Node.', '24.11.0'),
      postgres: described(z.string(), 'Version of PostgreSQL.', '18.0'),
      queueEngine: described(z.enum(['redis', 'postgres']), 'What the queue runs on.'),
    }),
  })
  .meta({ id: 'Status', description: 'How the service is doing.' });

export const explanation = z
  .object({
    deliveryId: uuid('The delivery.'),
    shipperId: uuid('Its shipper.'),
    webhookId: uuid('Its webhook.'),
    eventId: uuid("Its event, by the service's own identifier."),
    shipmentId: uuid('Its shipment; null where the notification belongs to none.').nullable(),
    sequence: described(z.int(), "The event's number among those of its shipment.", 2),
    state: described(z.string(), 'The state it tells of.', 'PICKED_UP'),
    asOf: moment("When this was so, by PostgreSQL's clock."),
    place: described(
      z.enum(['OUTBOX', 'LOG', 'NOWHERE']),
      'Where it is: owed, finished, or not there, though its event and webhook are.',
    ),
    status: described(
      z.enum(['READY', 'SENDING', 'RETRY', 'SUCCEEDED', 'FAILED', 'CANCELLED']),
      'Its status in the outbox or the log.',
    ).nullable(),
    reason: described(z.string(), 'Why it was cancelled.', 'EXPIRED').nullable(),
    attemptCount: count('Attempts begun.'),
    failureCount: count('Scheduled attempts that failed, of what is owed.'),
    dueAt: moment('When its next attempt may begin; null while it waits its turn.').nullable(),
    completedAt: moment('When it was finished.').nullable(),
    waitsFor: described(
      z.array(
        z
          .object({
            reason: described(z.enum(waitReasons), 'What it waits for.'),
            until: moment('Until when, where that is known.').nullable(),
          })
          .meta({ id: 'DeliveryWait', description: 'What keeps a delivery from being sent.' }),
      ),
      'What keeps it from being sent: each has to end.',
    ),
    behind: z
      .object({
        deliveryId: uuid('That delivery.'),
        eventId: uuid('Its event.'),
        sequence: described(z.int(), 'Its number among the events of the shipment.', 1),
        status: described(z.string(), 'Its status.', 'RETRY'),
      })
      .meta({ description: 'The earlier state of the shipment that blocks it.' })
      .nullable(),
    claim: z
      .object({
        attempt: described(z.int(), 'The number of the attempt.', 1),
        isByHand: described(z.boolean(), 'Whether the attempt was asked for by hand.', false),
        leaseUntil: moment('Until when its worker holds it.').nullable(),
        hasLapsed: described(z.boolean(), 'Whether that moment has passed.', false),
      })
      .meta({ description: 'The attempt under way.' })
      .nullable(),
    redeliveryRequestedAt: moment('When an attempt by hand was asked for that is not made yet.').nullable(),
    why: described(z.string(), 'The same in words.', 'Its webhook is paused.'),
    next: described(
      z.string(),
      'What happens next, and who does it.',
      'It goes on when the shipper sets the webhook to ACTIVE.',
    ),
  })
  .meta({ id: 'DeliveryExplanation', description: 'Why a delivery is where it is.' });
