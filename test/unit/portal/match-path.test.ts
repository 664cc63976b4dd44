import { expect, test } from '@jest/globals';
import { matchPath } from '../../../src/portal/match-path.js';

const id = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';

test.each([
  ['/deliveries/:id?', '/deliveries', {}],
  ['/deliveries/:id?', '/deliveries/', {}],
  ['/deliveries/:id?', `/deliveries/${id}`, { id }],
  ['/shipments/:id?', '/shipments/PH1M7YZMHG0R8EB1NC38', { id: 'PH1M7YZMHG0R8EB1NC38' }],
  ['/webhooks/:id', '/webhooks', null],
  ['/webhooks/:id', `/webhooks/${id}/x`, null],
  ['/webhooks', '/deliveries', null],
])('%s at %s is %j', (pattern, path, values) => {
  expect(matchPath(pattern, path)).toEqual(values);
});

test.each(['..', '..%2Ftokens', '%2e%2e%2fwebhooks%2fx%3f', 'a?b', 'a%00b', '%'])(
  'an address with %s for an id, which would call another endpoint, is none of the portal',
  (hostile) => {
    expect(matchPath('/deliveries/:id?', `/deliveries/${hostile}`)).toBeNull();
  },
);
