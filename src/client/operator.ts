import { checkedToken } from './http/checked.js';
import { createSend } from './http/send.js';
import { limitsOf, serviceAt, type ServiceOptions } from './http/service.js';
import { fixedCredentials } from './http/session.js';
import { typed, type Request } from './api/operations.js';

export interface OperatorClientOptions extends ServiceOptions {
  /** `OPERATOR_TOKEN` of the service, or one of its `OPERATOR_TOKENS`. */
  token: string;
}

export interface OperatorClient {
  /** `request('post', '/operator/v1/shippers', { body: { name: 'Books' } })` */
  request: Request<'/operator/'>;
}

/** The operator's API, by its paths. */
export function createOperatorClient(options: OperatorClientOptions): OperatorClient {
  const credentials = fixedCredentials(`Bearer ${checkedToken('token', options.token)}`);
  return { request: typed(createSend(serviceAt(options), credentials, limitsOf(options))) };
}
