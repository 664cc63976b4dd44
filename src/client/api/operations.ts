import type { paths } from './generated.js';
import type { CallOptions, Method, Send } from '../http/send.js';

/** Any endpoint of the API: `request('get', '/v1/webhooks/{webhookId}', { path: { webhookId } })`. */
export type Request<Prefix extends string> = <M extends Method, P extends PathOf<M> & `${Prefix}${string}`>(
  method: M,
  path: P,
  options: RequestOptions<OperationAt<M, P>>,
) => Promise<DataOf<OperationAt<M, P>>>;

type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in M]: object } ? P : never;
}[keyof paths];

type OperationAt<M extends Method, P> = P extends keyof paths
  ? M extends keyof paths[P]
    ? paths[P][M]
    : never
  : never;

/** `data` of an operation's success. */
export type DataOf<Operation> = Operation extends { responses: infer Responses }
  ? {
      [Status in keyof Responses & (200 | 201 | 202)]: Responses[Status] extends {
        content: { 'application/json': { data: infer Data } };
      }
        ? Data
        : never;
    }[keyof Responses & (200 | 201 | 202)]
  : never;

export type QueryOf<Operation> = Operation extends { parameters: { query?: infer Query } }
  ? NonNullable<Query>
  : never;

export type BodyOf<Operation> = Operation extends {
  requestBody?: { content: { 'application/json': infer Body } };
}
  ? Body
  : never;

type PathValues<Operation> = Operation extends { parameters: { path: infer Values } } ? Values : never;

/** A part that an operation does not have must be left out; one whose fields are all optional may be. */
type Part<Name extends string, Value> = [Value] extends [never]
  ? { [N in Name]?: never }
  : object extends Value
    ? { [N in Name]?: Value }
    : { [N in Name]: Value };

export type RequestOptions<Operation> = CallOptions &
  Part<'path', PathValues<Operation>> &
  Part<'query', QueryOf<Operation>> &
  Part<'body', BodyOf<Operation>> & {
    headers?: Record<string, string>;
    /** Sent as it is, instead of `body`. */
    json?: string;
    /** The request may be sent twice without harm. Any but a POST may, unless said otherwise. */
    repeatable?: boolean;
  };

/** The same with types of the API's document. */
export const typed = <Prefix extends string>(send: Send): Request<Prefix> =>
  (async (method: Method, path: string, options: object) =>
    (await send(method, path, options)).data) as Request<Prefix>;

/** `data` of an answer of which the caller knows the type. */
export const asked =
  (send: Send) =>
  async <Data>(...request: Parameters<Send>): Promise<Data> =>
    (await send(...request)).data as Data;
