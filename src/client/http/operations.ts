import type { paths } from '../api/generated.js';
import type { BodyOf, DataOf, QueryOf, WithDates } from '../api/types.js';
import type { CallOptions, Method, Send } from './send.js';

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

type PathValues<Operation> = Operation extends { parameters: { path: infer Values } } ? Values : never;

/** The part is forbidden if the operation has none, and optional if all its fields are. */
type Part<Name extends string, Value> = [Value] extends [never]
  ? { [N in Name]?: never }
  : object extends Value
    ? { [N in Name]?: Value }
    : { [N in Name]: Value };

export type RequestOptions<Operation> = CallOptions &
  Part<'path', PathValues<Operation>> &
  Part<'query', WithDates<QueryOf<Operation>>> &
  Part<'body', WithDates<BodyOf<Operation>>> & {
    headers?: Record<string, string>;
    /** Sent unchanged, instead of `body`. */
    json?: string;
    /** Whether the request can be repeated safely. Default: any but a POST. */
    repeatable?: boolean;
  };

/** `send` with the types of the API document. Returns `data`. */
export const typedRequest = <Prefix extends string>(send: Send): Request<Prefix> =>
  (async (method: Method, path: string, options: object) =>
    (await send(method, path, options)).data) as Request<Prefix>;

/** `send` for a response whose type only the caller knows. Returns `data`. */
export const untypedRequest =
  (send: Send) =>
  async <Data>(...request: Parameters<Send>): Promise<Data> =>
    (await send(...request)).data as Data;

/** The items of all pages. Reads a page when its first item is needed. */
export async function* itemsOf<Page extends { nextCursor: string | null }, Item>(
  read: (position: { cursor?: string }) => Promise<Page>,
  items: (page: Page) => readonly Item[],
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | null = null;
  do {
    const page: Page = await read(cursor === null ? {} : { cursor });
    yield* items(page);
    cursor = page.nextCursor;
  } while (cursor !== null);
}
