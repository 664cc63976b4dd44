import type { components, operations } from './generated.js';

/** `data` of an operation's success response. */
export type DataOf<Operation> = Operation extends { responses: infer Responses }
  ? {
      [Status in keyof Responses & (200 | 201 | 202)]: Responses[Status] extends {
        content: { 'application/json': { data: infer Data } };
      }
        ? Data
        : never;
    }[keyof Responses & (200 | 201 | 202)]
  : never;

/** Times that a caller gives as text or as a `Date`. */
type TimeField = 'from' | 'to' | 'shipperDropoffDate' | 'expectedDeliveryDate' | 'expiresAt';

export type WithDates<Values> = Values extends object
  ? { [Name in keyof Values]: Name extends TimeField ? Values[Name] | Date : Values[Name] }
  : Values;

export type QueryOf<Operation> = Operation extends { parameters: { query?: infer Query } }
  ? WithDates<NonNullable<Query>>
  : never;

export type BodyOf<Operation> = Operation extends {
  requestBody?: { content: { 'application/json': infer Body } };
}
  ? WithDates<Body>
  : never;

type Schemas = components['schemas'];
type Data<Id extends keyof operations> = DataOf<operations[Id]>;

export type Order = WithDates<Schemas['Order']>;
/** The accepted order with its ids. */
export type OrderResult = Data<'integrateOrder'> & { processId: string };
/** An order as it was placed. */
export type PlacedOrder = Data<'getOrder'>;
export type Tracking = Data<'trackShipment'>;

export type NewWebhook = Schemas['WebhookRegistration'];
export type WebhookChanges = WithDates<BodyOf<operations['updateWebhook']>>;
export type Webhook = Schemas['Webhook'];
export type WebhookWithSecret = Schemas['WebhookWithSecret'];
/** A webhook as a program declares it. */
export type Subscription = BodyOf<operations['declareWebhook']> & { name: string };
/** With its `secret` if it was made now, unless that was given. */
export type SubscribedWebhook = Schemas['DeclaredWebhook'];
export type WebhookWithHealth = Schemas['WebhookWithHealth'];
export type WebhookQuery = WithDates<QueryOf<operations['listWebhooks']>>;
export type WebhookPage = Data<'listWebhooks'>;
export type ListedWebhook = WebhookPage['webhooks'][number];
export type DeletedWebhook = Data<'deleteWebhook'>;
export type RotatedSecret = Data<'rotateSecret'>;
export type EndedSecrets = Data<'endEarlierSecrets'>;
export type TestResult = Data<'testWebhook'>;
export type ReplayRange = WithDates<BodyOf<operations['replayWebhook']>>;
export type Replay = Data<'replayWebhook'>;

export type Delivery = Schemas['Delivery'];
export type DeliveryDetails = Schemas['DeliveryDetails'];
export type DeliveryQuery = WithDates<QueryOf<operations['listDeliveries']>>;
export type DeliveryPage = Data<'listDeliveries'>;
export type Redelivery = Data<'redeliver'>;

export type NewToken = WithDates<Schemas['TokenRegistration']>;
export type ProgramToken = Schemas['ProgramToken'];
export type CreatedToken = Schemas['CreatedToken'];
export type TokenPage = Data<'listTokens'>;
export type TokenQuery = QueryOf<operations['listTokens']>;
export type RevokedToken = Data<'revokeToken'>;

export type UserPage = Data<'listOwnUsers'>;
export type SessionList = Data<'listSessions'>;
export type AuditPage = Data<'listOwnAudit'>;

export type Egress = Data<'getEgress'>;

/** The notification of a shipment that reaches a state. */
export type Notification = Schemas['Notification'];
/** The notification of another webhook of the shipper that fails, recovers, is or will be disabled, or has used up retries. */
export type Notice = Schemas['Notice'];

/** Events, oldest first. `nextCursor` is never null. */
export type EventPage = Data<'listEvents'>;
export type FeedEvent = EventPage['events'][number];
export type EventQuery = WithDates<QueryOf<operations['listEvents']>>;

/** Attempts per hour. */
export type WebhookStats = Data<'getWebhookStats'>;
export type StatsQuery = WithDates<QueryOf<operations['getWebhookStats']>>;

/** A replay and its progress. */
export type ReplayProgress = Data<'getReplay'>;
export type ReplayPage = Data<'listReplays'>;
export type ReplayQuery = WithDates<QueryOf<operations['listReplays']>>;

/** Shipments, newest first, without recipients. */
export type ShipmentPage = Data<'listShipments'>;
export type ListedShipment = ShipmentPage['shipments'][number];
export type ShipmentQuery = WithDates<QueryOf<operations['listShipments']>>;

/** All states of a shipment, and which may follow which. */
export type States = Data<'listStates'>;
export type RecordedEvent = Data<'cancelShipment'>;
/** The states a simulated shipment goes through. */
export interface Journey {
  states: string[];
  intervalMs: number;
}
