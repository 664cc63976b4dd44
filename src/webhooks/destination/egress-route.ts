import * as z from 'zod';
import { described } from '../../http/described.js';
import { route, type Route } from '../../http/route.js';

const answer = z
  .object({
    addresses: described(z.array(z.string()), 'Networks as CIDR; empty where the operator names none.', [
      '198.51.100.0/28',
      '2001:db8:7::/64',
    ]),
  })
  .meta({ description: 'The addresses that notifications come from.' });

/** Tells receivers whom to let through their firewalls. */
export const egressRoute = (addresses: readonly string[]): Route =>
  route({
    method: 'get',
    path: '/v1/egress',
    summary: 'Where notifications come from',
    operationId: 'getEgress',
    tag: 'Webhooks',
    description: 'For the firewall in front of your receiver. A signature proves more than an address.',
    answers: { 200: answer },
    handle: () => Promise.resolve({ data: { addresses } }),
  });
