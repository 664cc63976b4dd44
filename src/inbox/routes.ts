import * as z from 'zod';
import { isoOffset, route, type Route } from '../http/route.js';
import { described, exampleIds, instant, uuid } from '../http/request/fields.js';
import {
  type InboxAddresses,
  answers,
  failures,
  maxItems,
  type Box,
  type Boxes,
  type Item,
} from './boxes.js';

const switchFields = {
  address: described(
    z.url(),
    'Where the inbox receives; use it as the `targetAddress` of a webhook.',
    'http://127.0.0.1:8080/inbox/AZehssPUfl-Kmww',
  ),
  fail: described(
    z.enum(failures).nullable(),
    'How the next requests fail: `500` and `410` respond with that status, `TIMEOUT` does not respond, `RESET` resets the connection. Null: the inbox responds 200.',
    '500',
  ),
  failuresLeft: described(
    z.int().nullable(),
    'How many more requests fail; null: all, until it is changed.',
    3,
  ),
};

const item = z
  .object({
    itemId: uuid('The item.'),
    receivedAt: instant('When it arrived.'),
    headers: described(
      z.record(z.string(), z.string()),
      "Names in lower case; the values of a webhook's own headers are masked.",
      { 'webhook-id': exampleIds.eventId },
    ),
    body: described(z.string(), 'As it arrived.', '{"state":"CREATED"}'),
    verified: described(z.boolean(), 'A secret of a webhook that points to the inbox has signed it.', true),
    problem: described(z.string().nullable(), 'Why it is not verified.', null),
    answered: described(z.enum(answers), '`503`: too many requests waited for their timeout.', '200'),
  })
  .meta({ id: 'InboxItem', description: 'A request that the inbox received.' });

const showItem = ({ receivedAt, ...rest }: Item) => ({
  ...rest,
  receivedAt: isoOffset(receivedAt),
  verified: rest.problem === null,
});

const newerThan = ({ items }: Box, itemId: string | undefined): Item[] => {
  const at = items.findIndex((one) => one.itemId === itemId);
  return at === -1 ? items : items.slice(0, at);
};

export function inboxRoutes({ addresses, boxes }: { addresses: InboxAddresses; boxes: Boxes }): Route[] {
  const showSwitch = (shipperId: string, { fail, failuresLeft }: Box) => ({
    address: addresses.addressOf(shipperId),
    fail,
    failuresLeft,
  });
  return [
    route({
      method: 'get',
      path: '/v1/inbox',
      summary: 'Show what arrived in the inbox',
      operationId: 'getInbox',
      tokenScopes: ['webhooks'],
      tag: 'Webhooks',
      description: `For development: the inbox is an address of the service itself that receives notifications and verifies them. It keeps the last ${maxItems} in memory, and does not exist in production.`,
      responses: {
        200: z
          .object({
            ...switchFields,
            total: described(z.int(), 'How many items the inbox holds.', 1),
            items: described(z.array(item), 'Newest first.'),
          })
          .meta({ id: 'Inbox', description: 'The inbox.' }),
      },
      query: z.object({
        after: uuid('Only items newer than this one; all of them if it is gone.').optional(),
      }),
      handle: ({ caller: { shipperId }, query }) => {
        const box = boxes.of(shipperId);
        const items = newerThan(box, query.after).map(showItem);
        return Promise.resolve({
          data: { ...showSwitch(shipperId, box), total: box.items.length, items },
        });
      },
    }),
    route({
      method: 'patch',
      path: '/v1/inbox',
      summary: 'Let the inbox fail',
      operationId: 'changeInbox',
      tokenScopes: ['webhooks'],
      tag: 'Webhooks',
      description: 'For development: shows what becomes of deliveries to a failing receiver.',
      responses: {
        200: z.object(switchFields).meta({ id: 'InboxSwitch', description: 'How the inbox responds now.' }),
      },
      body: z
        .object({
          fail: described(
            z
              .enum(failures, `must be one of ${failures.map((name) => `"${name}"`).join(', ')}, or null`)
              .nullable(),
            'How the next requests fail; null: the inbox responds 200.',
            '500',
          ),
          times: described(
            z.int().min(1, 'must be at least 1').max(1_000, 'must be at most 1000'),
            'How many requests fail. Default: all, until it is changed.',
            3,
          ).optional(),
        })
        .meta({ id: 'InboxChanges' }),
      handle: ({ caller: { shipperId }, body: { fail, times } }) => {
        const failuresLeft = fail === null ? null : (times ?? null);
        return Promise.resolve({ data: showSwitch(shipperId, boxes.fail(shipperId, fail, failuresLeft)) });
      },
    }),
    route({
      method: 'delete',
      path: '/v1/inbox',
      summary: 'Empty the inbox',
      operationId: 'emptyInbox',
      tokenScopes: ['webhooks'],
      tag: 'Webhooks',
      description: 'For development. How the inbox responds does not change.',
      responses: {
        200: z
          .object({ removed: described(z.int(), 'How many items it held.', 1) })
          .meta({ id: 'EmptiedInbox', description: 'The inbox is empty.' }),
      },
      handle: ({ caller: { shipperId } }) => Promise.resolve({ data: { removed: boxes.empty(shipperId) } }),
    }),
  ];
}
