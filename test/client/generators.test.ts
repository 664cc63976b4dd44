import { beforeAll, test } from '@jest/globals';
import { runTarget, type ServiceAndUser } from '../programs/generators/run.js';
import { targets } from '../programs/generators/targets.js';
import { registerAccount } from '../support/client.js';
import { sharedService } from '../support/shared-service.js';

let user: ServiceAndUser;
beforeAll(async () => {
  const service = await sharedService();
  user = { ...(await registerAccount(service)), url: service.url };
});

/** The first installs them all; the registry may be slow. */
const longestMs = 300_000;

test.each(['openapi-fetch', 'orval', 'hey-api'])(
  'a client made with %s compiles, and creates a webhook and an order',
  (name) =>
    runTarget(
      targets.find((target) => target.name === name)!,
      user,
    ),
  longestMs,
);
