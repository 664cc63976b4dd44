import { decodeJwt } from 'jose';
import {
  fromPortal,
  basic,
  openSession,
  operator,
  placeOrder,
  registerAccount,
  newProgram,
  registerWebhook,
  request,
  sampleOrder,
  type Account,
  type ApiResponse,
  type Request,
} from '../../support/client.js';
import type { Service as OwnService } from '../../support/harness.js';
import { deliveriesOf, untilFound } from '../../support/deliveries.js';
import { untilState } from '../../support/expect.js';
import type { Described } from '../../support/openapi.js';

type Service = Pick<OwnService, 'url' | 'sql' | 'env'>;

const post = { method: 'POST' };

export interface World {
  account: Account;
  other: Account;
  /** The account that is removed. */
  leaving: Account;
  suspended: Account;
  /** The account whose user changes the password. */
  guest: Account;
  /** Query string of a list. */
  page: string;
  webhookId: string;
  trackingId: string;
  /** The shipment that is cancelled. */
  toCancel: string;
  deliveryId: string;
  replayId: string;
  linkToken: string;
  confirmToken: string;
  supportToken: string;
  cookie: string;
  tokenId: string;
  /** The session that is ended. */
  sessionId: string;
}

export async function makeWorld(service: Service, targetAddress: string): Promise<World> {
  const account = await registerAccount(service);
  const other = await registerAccount(service, 'other@example.com');
  const leaving = await registerAccount(service, 'leaving@example.com');
  const suspended = await registerAccount(service, 'suspended@example.com');
  const guest = await registerAccount(service, 'guest@example.com');
  await operator(service, `/shippers/${suspended.shipperId}`, {
    method: 'PATCH',
    body: { status: 'SUSPENDED' },
  });
  const { webhookId } = await registerWebhook(account, targetAddress);
  const order = await account.call('/v1/shipments', { body: sampleOrder() });
  const trackingId = order.data.trackingId as string;
  await untilState(account, trackingId, 'CREATED');
  const { deliveryId } = await untilFound(async () =>
    (await deliveriesOf(account, webhookId)).find(({ status }) => status === 'SUCCEEDED'),
  );
  const range = { from: new Date(Date.now() - 60_000).toISOString(), to: new Date().toISOString() };
  const replay = await account.call(`/v1/webhooks/${webhookId}/replay`, { body: range });
  const replayId = replay.data.replayId as string;
  await service.sql(
    `update replays set status = 'RUNNING', walked_at = null, finished_at = null, next_at = now() + interval '1 day'`,
  );
  const link = await operator(service, `/users/${other.userId}/password-link`, post);
  const confirmToken = 'c'.repeat(43);
  await service.sql(
    `insert into notify_addresses (shipper_id, email, token_hash, expires_at)
     values ($1, 'asked@example.com', sha256($2::text::bytea), now() + interval '1 hour')`,
    [account.shipperId, confirmToken],
  );
  const linkToken = new URL(link.data.setPasswordUrl as string).searchParams.get('token')!;
  const portal = await operator(service, `/shippers/${account.shipperId}/portal-link`, post);
  const supportToken = new URL(portal.data.url as string).searchParams.get('token')!;
  return {
    account,
    other,
    leaving,
    suspended,
    guest,
    page: '',
    webhookId,
    trackingId,
    toCancel: await placeOrder(account),
    deliveryId,
    replayId,
    linkToken,
    confirmToken,
    supportToken,
    cookie: await openSession(service, account),
    tokenId: (await newProgram(service, account, { scopes: ['read'] })).tokenId,
    sessionId: decodeJwt((await openSession(service, account)).split('=')[1]!).jti!,
  };
}

type Path = (world: World) => string;
/** `changes` are other ids, another body, other headers, another process. */
export type Call = (changes?: Partial<World>, options?: Request, url?: string) => Promise<ApiResponse>;

export function callsOf(service: Service, world: World): Record<string, Call> {
  const of =
    (path: Path, own: Request, headersOf: (world: World) => Record<string, string>): Call =>
    (changes = {}, options = {}, url = service.url) => {
      const changed = { ...world, ...changes };
      const headers = { ...headersOf(changed), ...options.headers };
      return request(`${url}${path(changed)}`, { ...own, ...options, headers });
    };
  const ofOperator = () => ({ authorization: `Bearer ${service.env.OPERATOR_TOKEN}` });
  const ofShipper = ({ account }: World) => ({ authorization: `Bearer ${account.token}` });
  const ofSession = (changed: World) => ({ ...fromPortal, cookie: changed.cookie });
  const withKey = (path: string, key: string) => `${path}${path.includes('?') ? '&' : '?'}key=${key}`;
  const shipper = (path: Path, own: Request = {}) =>
    of((changed) => withKey(path(changed), changed.account.accountKey), own, ofShipper);
  /** For what ends the token: other calls still need that of `account`. */
  const byUserOf = (name: 'guest' | 'other', path: string, own: Request) =>
    of(
      (changed) => withKey(path, changed[name].accountKey),
      own,
      (changed) => ofShipper({ ...changed, account: changed[name] }),
    );
  const byOperator = (path: Path, own: Request = {}) =>
    of((changed) => `/operator/v1${path(changed)}`, own, ofOperator);
  const session = (own: Request = {}) => of(() => '/v1/session', own, ofSession);
  const page = (path: Path, own: Request = {}) => of(path, own, () => ({}));
  const range = () => ({ from: Date.now() - 60_000, to: Date.now() });
  return {
    login: of(
      ({ account }) => `/v1/login?key=${account.accountKey}`,
      {},
      ({ account }) => ({ authorization: basic(account.email, account.password) }),
    ),
    getSession: session(),
    createSession: session({
      body: {
        key: world.account.accountKey,
        email: world.account.email,
        password: world.account.password,
      },
    }),
    deleteSession: session({ method: 'DELETE' }),
    requestPasswordLink: page(() => '/v1/password-link', {
      body: { key: world.account.accountKey, email: world.account.email },
    }),
    createToken: shipper(() => '/v1/tokens', { body: { name: 'Shop', scopes: ['orders', 'read'] } }),
    listTokens: shipper(() => '/v1/tokens'),
    listOwnUsers: shipper(() => '/v1/users'),
    listOwnAudit: shipper(() => '/v1/audit'),
    changePassword: byUserOf('guest', '/v1/password', {
      body: { currentPassword: world.guest.password, newPassword: 'correct horse battery staple' },
    }),
    endSessions: byUserOf('other', '/v1/sessions', { method: 'DELETE' }),
    listSessions: shipper(() => '/v1/sessions'),
    endSession: shipper(({ sessionId }) => `/v1/sessions/${sessionId}`, { method: 'DELETE' }),
    revokeToken: shipper(({ tokenId }) => `/v1/tokens/${tokenId}`, { method: 'DELETE' }),
    integrateOrder: shipper(() => '/v1/shipments', { body: sampleOrder() }),
    listShipments: shipper(() => '/v1/shipments?shipperTrackingId=SHIPPER-1&state=CREATED'),
    getOrder: shipper(({ trackingId }) => `/v1/shipments/${trackingId}`),
    listStates: shipper(() => '/v1/states'),
    trackShipment: shipper(({ trackingId }) => `/v1/shipment-tracking/${trackingId}`),
    listWebhooks: shipper(() => '/v1/webhooks?include=health,stats'),
    createWebhook: shipper(() => '/v1/webhooks', {
      body: { interests: ['A_STATE_TO_COME'], targetAddress: 'https://example.com/hook' },
    }),
    declareWebhook: shipper(() => '/v1/webhooks/by-name/orders', {
      method: 'PUT',
      body: { interests: ['LOST'], targetAddress: 'https://example.com/hook' },
    }),
    getEgress: shipper(() => '/v1/egress'),
    getWebhook: shipper(({ webhookId }) => `/v1/webhooks/${webhookId}`),
    getWebhookStats: shipper(({ webhookId }) => `/v1/webhooks/${webhookId}/stats`),
    updateWebhook: shipper(({ webhookId }) => `/v1/webhooks/${webhookId}`, {
      method: 'PATCH',
      body: { description: 'changed' },
    }),
    rotateSecret: shipper(({ webhookId }) => `/v1/webhooks/${webhookId}/rotate-secret`, post),
    endEarlierSecrets: shipper(({ webhookId }) => `/v1/webhooks/${webhookId}/secrets/previous`, {
      method: 'DELETE',
    }),
    testWebhook: shipper(({ webhookId }) => `/v1/webhooks/${webhookId}/test`, post),
    replayWebhook: shipper(({ webhookId }) => `/v1/webhooks/${webhookId}/replay`, { body: range() }),
    listEvents: shipper(() => '/v1/events'),
    listReplays: shipper(({ webhookId }) => `/v1/webhooks/${webhookId}/replays`),
    getReplay: shipper(({ replayId }) => `/v1/replays/${replayId}`),
    cancelReplay: shipper(({ replayId }) => `/v1/replays/${replayId}/cancel`, post),
    listDeliveries: shipper(() => '/v1/deliveries'),
    getDelivery: shipper(({ deliveryId }) => `/v1/deliveries/${deliveryId}`),
    redeliver: shipper(({ deliveryId }) => `/v1/deliveries/${deliveryId}/redeliver`, post),
    deleteWebhook: shipper(({ webhookId }) => `/v1/webhooks/${webhookId}`, { method: 'DELETE' }),
    createShipper: byOperator(() => '/shippers', { body: { name: 'Acme Books' } }),
    createUser: byOperator(({ account }) => `/shippers/${account.shipperId}/users`, {
      body: { email: 'ana@example.com' },
    }),
    createPasswordLink: byOperator(({ account }) => `/users/${account.userId}/password-link`, post),
    listShippers: byOperator(({ page }) => `/shippers${page}`),
    updateShipper: byOperator(({ leaving }) => `/shippers/${leaving.shipperId}`, {
      method: 'PATCH',
      body: { name: 'Acme Books & more' },
    }),
    createPortalLink: byOperator(({ leaving }) => `/shippers/${leaving.shipperId}/portal-link`, post),
    rotateAccountKey: byOperator(({ leaving }) => `/shippers/${leaving.shipperId}/rotate-key`, post),
    listUsers: byOperator(({ leaving }) => `/shippers/${leaving.shipperId}/users`),
    signOutUser: byOperator(({ leaving }) => `/users/${leaving.userId}/sign-out`, post),
    removeUser: byOperator(({ leaving }) => `/users/${leaving.userId}`, { method: 'DELETE' }),
    removeShipper: byOperator(({ leaving }) => `/shippers/${leaving.shipperId}`, { method: 'DELETE' }),
    listAudit: byOperator(({ page }) => `/audit${page}`),
    recordEvent: byOperator(({ trackingId }) => `/shipments/${trackingId}/events`, {
      body: { state: 'PICKED_UP', anomalies: { dented: true }, evidences: ['photo'], lat: 1, lng: 2 },
    }),
    recordEvents: byOperator(() => '/events', {
      body: { events: [{ trackingId: world.trackingId, state: 'IN_TRANSIT' }, { trackingId: 'NONE' }, 7] },
    }),
    redeliverForShipper: byOperator(({ deliveryId }) => `/deliveries/${deliveryId}/redeliver`, post),
    eraseShipment: byOperator(({ trackingId }) => `/shipments/${trackingId}/erase`, post),
    simulateShipment: shipper(({ trackingId }) => `/v1/shipments/${trackingId}/simulate`, {
      body: { states: ['LOST'] },
    }),
    cancelShipment: shipper(({ toCancel }) => `/v1/shipments/${toCancel}/cancel`, post),
    explainDelivery: byOperator(({ deliveryId }) => `/deliveries/${deliveryId}/explanation`),
    getStatus: byOperator(() => '/status'),
    listTopWebhooks: byOperator(() => '/webhooks?sort=backlog'),
    listDeliveriesOfShipper: byOperator(({ account }) => `/deliveries?shipperId=${account.shipperId}`),
    getDeliveryOfShipper: byOperator(({ deliveryId }) => `/deliveries/${deliveryId}`),
    listShipmentsOfShipper: byOperator(({ account }) => `/shipments?shipperId=${account.shipperId}`),
    rotateKey: byOperator(() => '/secrets/rotate-key', post),
    renewFeed: byOperator(() => '/feed/renew', post),
    pauseWebhook: byOperator(({ webhookId }) => `/webhooks/${webhookId}/pause`, post),
    resumeWebhook: byOperator(({ webhookId }) => `/webhooks/${webhookId}/resume`, post),
    replayForShipper: byOperator(({ webhookId }) => `/webhooks/${webhookId}/replay`, { body: range() }),
    getReplayOfShipper: byOperator(({ replayId }) => `/replays/${replayId}`),
    cancelReplayOfShipper: byOperator(({ replayId }) => `/replays/${replayId}/cancel`, post),
    showPasswordForm: page(({ linkToken }) => `/set-password?token=${linkToken}`),
    setPassword: page(() => '/set-password', {
      body: { token: world.linkToken, password: 'correct horse battery' },
    }),
    showConfirmationForm: page(({ confirmToken }) => `/confirm-address?token=${confirmToken}`),
    confirmAddress: page(() => '/confirm-address', { body: { token: world.confirmToken } }),
    showSupportForm: page(({ supportToken }) => `/support?token=${supportToken}`),
    openPortal: page(() => '/support', { body: { token: world.supportToken } }),
    getHealth: page(() => '/healthz'),
    getReadiness: page(() => '/readyz'),
    getMetrics: page(() => '/metrics'),
    getOpenApiDocument: page(() => '/openapi.json'),
    getDocs: page(() => '/docs'),
    getApiGuide: page(() => '/docs/api'),
    searchDocs: page(() => '/docs/search?q=signature'),
    getRunbook: page(() => '/docs/runbook'),
    getReceiving: page(() => '/docs/receiving'),
  };
}

/** Valid credentials, this query, and nothing else. */
export function bareCall(
  service: Service,
  account: Account,
  { method, path, operation }: Described,
  query: string,
): Promise<ApiResponse> {
  const schemes = Object.keys(operation.security[0] ?? {});
  const authorization = schemes.includes('credentials')
    ? basic(account.email, account.password)
    : `Bearer ${schemes.includes('operatorToken') ? service.env.OPERATOR_TOKEN : account.token}`;
  const key = schemes.includes('accountKey') ? `&key=${account.accountKey}` : '';
  const filled = path.replace(/\{\w+\}/g, '018f0000-0000-7000-8000-000000000000');
  return request(`${service.url}${filled}?${query}${key}`, {
    method: method.toUpperCase(),
    headers: { authorization, ...fromPortal },
  });
}
