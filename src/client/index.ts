export {
  createClient,
  createOperatorClient,
  type Client,
  type ClientOptions,
  type OperatorClient,
  type OperatorClientOptions,
} from './client.js';
export { ParcelhookError, type Detail, type ErrorCode } from './errors.js';
export { diagnose, parseHeaders, type Diagnosis, type DiagnosisInput, type Finding } from './diagnose.js';
export { verify } from './signature.js';
export type { RawBody, VerifyOptions } from './signed-request.js';
export type { RequestHeaders } from './request-headers.js';
export { version } from './api/generated.js';
export type * from './api/types.js';
export { receiver, type ReceiverHandler } from './receiver.js';
export type { NotificationContext, ReceiverOptions } from './receiving/handler.js';
export {
  postgresStore,
  type PostgresConnection,
  type PostgresPool,
  type PostgresStore,
} from './receiving/postgres-store.js';
export { memoryStore, type Memory, type ReceivedEvent, type ReceiverStore } from './receiving/store.js';
export type { CallOptions } from './http/send.js';
export type { ServiceOptions } from './http/service.js';
export type { Events, FollowOptions } from './resources/events.js';
export type {
  Deliveries,
  OrderOptions,
  Replays,
  Shipments,
  Tokens,
  Webhooks,
} from './resources/resources.js';
