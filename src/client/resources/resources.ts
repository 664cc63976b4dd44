import { randomUUID } from 'node:crypto';
import type * as api from '../api/types.js';
import { ParcelhookError } from '../errors.js';
import { itemsOf, untypedRequest, type Request } from '../http/operations.js';
import { pause } from '../http/retry.js';
import type { CallOptions, Send } from '../http/send.js';

export type Deliveries = ReturnType<typeof deliveries>;

export function deliveries(request: Request<'/v1/'>) {
  const list = (query: api.DeliveryQuery = {}, options?: CallOptions): Promise<api.DeliveryPage> =>
    request('get', '/v1/deliveries', { ...options, query });
  return {
    /** One page of the log, newest first. */
    list,
    /** All deliveries, newest first, read page by page; `limit` is the page size. */
    all: (query?: api.DeliveryQuery, options?: CallOptions): AsyncIterable<api.Delivery> =>
      itemsOf(
        (position) => list({ limit: 250, ...query, ...position }, options),
        (page) => page.deliveries,
      ),
    /** A delivery with its payload and its attempts, newest first, 100 at a time. */
    get: (
      deliveryId: string,
      query: { attemptsCursor?: string } = {},
      options?: CallOptions,
    ): Promise<api.DeliveryDetails> =>
      request('get', '/v1/deliveries/{deliveryId}', { ...options, path: { deliveryId }, query }),
    /** Sends a delivery again now, with the same `webhook-id`. */
    redeliver: (deliveryId: string, options?: CallOptions): Promise<api.Redelivery> =>
      request('post', '/v1/deliveries/{deliveryId}/redeliver', { ...options, path: { deliveryId } }),
  };
}

export interface OrderOptions extends CallOptions {
  /** The same key returns the first response again for 24 hours. Default: a new key. */
  idempotencyKey?: string | undefined;
}

function validIdempotencyKey(key: string): string {
  if (typeof key === 'string' && /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(key)) return key;
  throw new TypeError(
    'idempotencyKey must be 1 to 255 printable ASCII characters, without a space at either end.',
  );
}

const waitForMs = 60_000;
const firstPauseMs = 250;
const maxPauseMs = 2_000;

export type Shipments = ReturnType<typeof shipments>;

export function shipments(request: Request<'/v1/'>, send: Send) {
  const list = (query: api.ShipmentQuery = {}, options?: CallOptions): Promise<api.ShipmentPage> =>
    request('get', '/v1/shipments', { ...options, query });
  const track = (trackingId: string, options?: CallOptions): Promise<api.Tracking> =>
    request('get', '/v1/shipment-tracking/{trackingId}', { ...options, path: { trackingId } });
  return {
    /** Hands over an order, which is committed when this resolves. Retries use the same idempotency key: one shipment results. */
    async create(
      order: api.Order,
      { idempotencyKey = randomUUID(), ...options }: OrderOptions = {},
    ): Promise<api.OrderResult> {
      const { data, processId } = await send('post', '/v1/shipments', {
        ...options,
        body: order,
        headers: { 'idempotency-key': validIdempotencyKey(idempotencyKey) },
        repeatable: true,
      });
      return { ...data, processId } as api.OrderResult;
    },
    /** One page, newest first. */
    list,
    /** All shipments, newest first, read page by page; `limit` is the page size. */
    all: (query?: api.ShipmentQuery, options?: CallOptions): AsyncIterable<api.ListedShipment> =>
      itemsOf(
        (position) => list({ limit: 250, ...query, ...position }, options),
        (page) => page.shipments,
      ),
    /** The order as it was placed. */
    get: (trackingId: string, options?: CallOptions): Promise<api.PlacedOrder> =>
      request('get', '/v1/shipments/{trackingId}', { ...options, path: { trackingId } }),
    /** A shipment's state and history. */
    track,
    /**
     * Resolves once the shipment has been in the state, or one of several. Throws `CONFLICT` if it has ended in another,
     * and `TIMEOUT` after `totalTimeoutMs`.
     */
    async waitFor(
      trackingId: string,
      state: string | readonly string[],
      { totalTimeoutMs = waitForMs, ...options }: CallOptions = {},
    ): Promise<api.Tracking> {
      const states = [state].flat();
      const wanted = states.join(' or ');
      const endsAtMs = performance.now() + totalTimeoutMs;
      const inTime = () => ({ ...options, totalTimeoutMs: Math.max(1, endsAtMs - performance.now()) });
      let catalogue: api.States['states'] | undefined;
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, maxPauseMs)) {
        const tracking = await track(trackingId, inTime());
        if (tracking.history.some((entry) => states.includes(entry.state))) return tracking;
        catalogue ??= (await request('get', '/v1/states', inTime())).states;
        if (catalogue.some(({ state: name, terminal }) => terminal && name === tracking.state))
          throw new ParcelhookError(
            `${trackingId} cannot become ${wanted} any more: it is ${tracking.state}, which is final.`,
            { code: 'CONFLICT' },
          );
        if (!(performance.now() + pauseMs < endsAtMs))
          throw new ParcelhookError(
            `${trackingId} was not ${wanted} within ${totalTimeoutMs / 1_000} s: it is ${tracking.state ?? 'not created yet'}.`,
            { code: 'TIMEOUT' },
          );
        await pause(pauseMs, options.signal);
      }
    },
    /** Records `CANCELLED`. Throws `CONFLICT` if the shipment's state does not allow it any more. */
    cancel: (trackingId: string, options?: CallOptions): Promise<api.RecordedEvent> =>
      request('post', '/v1/shipments/{trackingId}/cancel', { ...options, path: { trackingId } }),
    /** Moves a shipment through states, by default to DELIVERED, one per second. Only if the service allows it. */
    // Not typed by the API document: a deployment may have its own states.
    simulate: (
      trackingId: string,
      body: Partial<api.Journey> = {},
      options?: CallOptions,
    ): Promise<api.Journey> =>
      untypedRequest(send)('post', '/v1/shipments/{trackingId}/simulate', {
        ...options,
        path: { trackingId },
        body,
      }),
  };
}

const one = '/v1/webhooks/{webhookId}';
/** The service responds only after the receiver has. */
const testTimeoutMs = 30_000;

export type Webhooks = ReturnType<typeof webhooks>;

export function webhooks(request: Request<'/v1/'>, send: Send) {
  const requestUntyped = untypedRequest(send);
  const list = (query: api.WebhookQuery = {}, options?: CallOptions): Promise<api.WebhookPage> =>
    request('get', '/v1/webhooks', { ...options, query });
  return {
    /** One page. */
    list,
    /** All webhooks, read page by page. */
    all: (query?: api.WebhookQuery, options?: CallOptions): AsyncIterable<api.ListedWebhook> =>
      itemsOf(
        (position) => list({ limit: 250, ...query, ...position }, options),
        (page) => page.webhooks,
      ),
    /** A webhook and the health of its deliveries. */
    get: (webhookId: string, options?: CallOptions): Promise<api.WebhookWithHealth> =>
      request('get', one, { ...options, path: { webhookId } }),
    /** Registers a webhook. Only this response shows its `secret`. */
    create: (body: api.NewWebhook, options?: CallOptions): Promise<api.WebhookWithSecret> =>
      request('post', '/v1/webhooks', { ...options, body }),
    /** Changes the given fields only. */
    update: (webhookId: string, body: api.WebhookChanges, options?: CallOptions): Promise<api.Webhook> =>
      request('patch', one, { ...options, path: { webhookId }, body }),
    /** After this resolves, no attempt to the webhook starts. */
    delete: (webhookId: string, options?: CallOptions): Promise<api.DeletedWebhook> =>
      requestUntyped('delete', one, { ...options, path: { webhookId }, gone: { webhookId } }),
    /** Sends a sample now and returns the attempt, even if it failed. */
    // Not typed by the API document: a deployment may have its own states.
    test: (
      webhookId: string,
      body: { state?: string } = {},
      options?: CallOptions,
    ): Promise<api.TestResult> =>
      requestUntyped('post', `${one}/test`, {
        timeoutMs: testTimeoutMs,
        ...options,
        path: { webhookId },
        body,
      }),
    /** Makes a new `secret`, shown once. The old one also signs for `overlap` (default: `24h`); five earlier ones can. */
    rotateSecret: (
      webhookId: string,
      body: { overlap?: string } = {},
      options?: CallOptions,
    ): Promise<api.RotatedSecret> =>
      request('post', `${one}/rotate-secret`, { ...options, path: { webhookId }, body }),
    /** After this resolves, nothing is signed with an earlier secret. */
    endEarlierSecrets: (webhookId: string, options?: CallOptions): Promise<api.EndedSecrets> =>
      request('delete', `${one}/secrets/previous`, { ...options, path: { webhookId } }),
    /** Sends what the webhook missed in a time range. */
    replay: (webhookId: string, body: api.ReplayRange, options?: CallOptions): Promise<api.Replay> =>
      request('post', `${one}/replay`, { ...options, path: { webhookId }, body }),
    /** Attempts per hour, by default of the last day. */
    stats: (
      webhookId: string,
      query: api.StatsQuery = {},
      options?: CallOptions,
    ): Promise<api.WebhookStats> =>
      requestUntyped('get', `${one}/stats`, { ...options, path: { webhookId }, query }),
  };
}

export type Replays = ReturnType<typeof replays>;

export const replays = (request: Request<'/v1/'>) => ({
  /** One page of a webhook's replays, newest first. */
  list: (webhookId: string, query: api.ReplayQuery = {}, options?: CallOptions): Promise<api.ReplayPage> =>
    request('get', '/v1/webhooks/{webhookId}/replays', { ...options, path: { webhookId }, query }),
  /** A replay and its progress. */
  get: (replayId: string, options?: CallOptions): Promise<api.ReplayProgress> =>
    request('get', '/v1/replays/{replayId}', { ...options, path: { replayId } }),
  /** After this resolves, no attempt of the replay starts. It may be repeated: a finished replay does not change. */
  cancel: (replayId: string, options?: CallOptions): Promise<api.ReplayProgress> =>
    request('post', '/v1/replays/{replayId}/cancel', { ...options, path: { replayId }, repeatable: true }),
});

export type Tokens = ReturnType<typeof tokens>;

/** Only a user who has logged in makes and revokes them: a program's token does not. */
export function tokens(request: Request<'/v1/'>, send: Send) {
  const list = (query: api.TokenQuery = {}, options?: CallOptions): Promise<api.TokenPage> =>
    request('get', '/v1/tokens', { ...options, query });
  return {
    /** One page, the oldest first. */
    list,
    /** All tokens, read page by page. */
    all: (query?: api.TokenQuery, options?: CallOptions): AsyncIterable<api.ProgramToken> =>
      itemsOf(
        (position) => list({ limit: 250, ...query, ...position }, options),
        (page) => page.tokens,
      ),
    /** Makes a token for a program. Only this response shows it. */
    create: (body: api.NewToken, options?: CallOptions): Promise<api.CreatedToken> =>
      request('post', '/v1/tokens', { ...options, body }),
    /** Every process refuses it within 10 seconds. */
    revoke: (tokenId: string, options?: CallOptions): Promise<api.RevokedToken> =>
      untypedRequest(send)('delete', '/v1/tokens/{tokenId}', {
        ...options,
        path: { tokenId },
        gone: { tokenId },
      }),
  };
}
