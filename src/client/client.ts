import { typed, type Request } from './api/operations.js';
import type { Egress, States } from './api/types.js';
import { checked } from './http/checked.js';
import { createSend, type CallOptions } from './http/send.js';
import { limitsOf, serviceAt, type ServiceOptions } from './http/service.js';
import { fixedCredentials, loggedIn } from './http/session.js';
import { deliveries, type Deliveries } from './resources/deliveries.js';
import { events, type Events } from './resources/events.js';
import { replays, type Replays } from './resources/replays.js';
import { shipments, type Shipments } from './resources/shipments.js';
import { webhooks, type Webhooks } from './resources/webhooks.js';

export interface ClientOptions extends ServiceOptions {
  /** The account key. */
  key: string;
  email: string;
  password: string;
}

export interface Client {
  shipments: Shipments;
  webhooks: Webhooks;
  replays: Replays;
  deliveries: Deliveries;
  events: Events;
  /** Which states there are, and which may follow which. */
  states(options?: CallOptions): Promise<States>;
  /** The networks that notifications come from. */
  egress(options?: CallOptions): Promise<Egress>;
  /** Any endpoint by its path, also one that has no method here: `request('get', '/v1/egress', {})`. */
  request: Request<'/v1/'>;
}

/**
 * A shipper's API. It logs in when it first has to, and again when the token ends; nothing has to be closed. Throws
 * TypeError where an option is absent or has the wrong form.
 */
export function createClient(options: ClientOptions): Client {
  const service = { ...serviceAt(options), key: checked('key', options.key) };
  const limits = limitsOf(options);
  const user = `${checked('email', options.email)}:${checked('password', options.password)}`;
  const login = createSend(
    service,
    fixedCredentials(`Basic ${Buffer.from(user).toString('base64')}`),
    limits,
  );
  const send = createSend(
    service,
    loggedIn(async () => (await login('get', '/v1/login')).data as { token: string; expiresIn: string }),
    limits,
  );
  const request = typed<'/v1/'>(send);
  return {
    shipments: shipments(request, send),
    webhooks: webhooks(request, send),
    replays: replays(request),
    deliveries: deliveries(request),
    events: events(request, limits),
    states: (callOptions = {}) => request('get', '/v1/states', callOptions),
    egress: (callOptions = {}) => request('get', '/v1/egress', callOptions),
    request,
  };
}
