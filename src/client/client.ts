import { typedRequest, type Request } from './http/operations.js';
import type { Egress, States, SubscribedWebhook, Subscription } from './api/types.js';
import { createSend, type CallOptions, type Send } from './http/send.js';
import {
  fixedCredentials,
  limitsOf,
  loginCredentials,
  nonEmpty,
  refuseUnknown,
  serviceAt,
  serviceOptions,
  validToken,
  type Limits,
  type ServiceOptions,
} from './http/service.js';
import {
  deliveries,
  replays,
  shipments,
  tokens,
  webhooks,
  type Deliveries,
  type Replays,
  type Shipments,
  type Tokens,
  type Webhooks,
} from './resources/resources.js';
import { events, type Events } from './resources/events.js';

/** A user's log-in, or a token that was made for the program, which needs no key. */
export type ClientOptions = ServiceOptions &
  (
    | { key: string; email: string; password: string; token?: undefined }
    | { token: string; key?: undefined; email?: undefined; password?: undefined }
  );

export interface Client {
  shipments: Shipments;
  webhooks: Webhooks;
  replays: Replays;
  deliveries: Deliveries;
  events: Events;
  tokens: Tokens;
  /**
   * Call it when a receiver's program starts: creates the webhook of this name, or changes it where it differs. Its
   * status never changes.
   */
  subscribe(webhook: Subscription, options?: CallOptions): Promise<SubscribedWebhook>;
  /** All states, and which may follow which. */
  states(options?: CallOptions): Promise<States>;
  /** The networks that notifications come from. */
  egress(options?: CallOptions): Promise<Egress>;
  /** Any endpoint by its path, including those without a method: `request('get', '/v1/egress', {})`. */
  request: Request<'/v1/'>;
}

const ofUser = ['key', 'email', 'password'] as const;

/**
 * The client of a shipper's API. Without a token it logs in on first use and again when that log-in expires. It needs no
 * closing. Throws TypeError for a missing, malformed or unknown option.
 */
export function createClient(options: ClientOptions): Client {
  refuseUnknown(options, [...serviceOptions, 'token', ...ofUser]);
  const limits = limitsOf(options);
  const send = isOfProgram(options) ? sendAsProgram(options, limits) : sendAsUser(options, limits);
  const request = typedRequest<'/v1/'>(send);
  return {
    shipments: shipments(request, send),
    webhooks: webhooks(request, send),
    replays: replays(request),
    deliveries: deliveries(request),
    events: events(request, limits),
    tokens: tokens(request, send),
    subscribe: ({ name, ...body }, callOptions = {}) =>
      request('put', '/v1/webhooks/by-name/{name}', { ...callOptions, path: { name }, body }),
    states: (callOptions = {}) => request('get', '/v1/states', callOptions),
    egress: (callOptions = {}) => request('get', '/v1/egress', callOptions),
    request,
  };
}

/** A token that is undefined, such as that of a variable that is not set, must be missed by its name. */
const isOfProgram = (options: ClientOptions): options is ClientOptions & { token: string } =>
  options.token !== undefined || ('token' in options && options.key === undefined);

function sendAsProgram(options: ClientOptions & { token: string }, limits: Limits): Send {
  const given = ofUser.filter((name) => options[name] !== undefined);
  if (given.length > 0) throw new TypeError(`Give either token, or ${ofUser.join(', ')}.`);
  const credentials = fixedCredentials(`Bearer ${validToken('token', options.token)}`);
  return createSend(serviceAt(options), credentials, limits);
}

function sendAsUser(options: ClientOptions & { key: string }, limits: Limits): Send {
  const service = { ...serviceAt(options), key: nonEmpty('key', options.key) };
  const user = `${nonEmpty('email', options.email)}:${nonEmpty('password', options.password)}`;
  const login = createSend(
    service,
    fixedCredentials(`Basic ${Buffer.from(user).toString('base64')}`),
    limits,
  );
  return createSend(
    service,
    loginCredentials(
      async () => (await login('get', '/v1/login')).data as { token: string; expiresIn: string },
    ),
    limits,
  );
}

export interface OperatorClientOptions extends ServiceOptions {
  /** `OPERATOR_TOKEN` of the service, or one of its `OPERATOR_TOKENS`. */
  token: string;
}

export interface OperatorClient {
  /** `request('post', '/operator/v1/shippers', { body: { name: 'Books' } })` */
  request: Request<'/operator/'>;
}

/** The client of the operator's API. */
export function createOperatorClient(options: OperatorClientOptions): OperatorClient {
  refuseUnknown(options, [...serviceOptions, 'token']);
  const credentials = fixedCredentials(`Bearer ${validToken('token', options.token)}`);
  return { request: typedRequest(createSend(serviceAt(options), credentials, limitsOf(options))) };
}
