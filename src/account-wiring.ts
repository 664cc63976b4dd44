import type { RequestHandler } from 'express';
import { createApiLimit } from './accounts/login/api-limit.js';
import { authenticateShipper } from './accounts/login/authenticate.js';
import { loginRoute } from './accounts/login/login.js';
import { createLoginLimits } from './accounts/login/login-limits.js';
import { authenticateOperator, operatorsOf } from './accounts/login/operators.js';
import { passwordPage } from './accounts/passwords/password-page.js';
import type { Refusals } from './accounts/audit/refusals.js';
import { createStandings } from './accounts/tokens/standing.js';
import { createTokens } from './accounts/tokens/tokens.js';
import { createShares } from './http/connections/shares.js';
import { createBodyBytes } from './http/request/body-bytes.js';
import { forgetCircuits } from './deliveries/circuit/store.js';
import { dueSinceUnknown, type HandOver } from './deliveries/outbox/hand-over.js';
import { untilNoSendCanStart } from './deliveries/send/starts.js';
import type { Route } from './http/route.js';
import type { ServerOptions } from './http/server.js';
import { auditRoutes } from './operator/audit-routes.js';
import { shipperRoutes } from './operator/shipper-routes.js';
import { userRoutes } from './operator/user-routes.js';
import type { Resources } from './resources.js';
import { deleteWebhooks, resumeWebhooks, suspendWebhooks, webhooksOf } from './webhooks/shipper-store.js';

export interface Accounts extends Pick<ServerOptions, 'authenticate' | 'limit' | 'shares' | 'bodyBytes'> {
  routes(handOver: HandOver): Route[];
  passwordPage: RequestHandler;
}

/**
 * What one shipper may have of a process: so much less than the pool's connections that an order always finds one, and
 * so few unread answers that they do not fill the memory.
 */
const share = {
  maxUnderWay: 1_000,
  atOnce: 4,
  atOncePerShipper: 3,
  maxUnread: 8,
  maxWaitMs: 5_000,
  stalledAfterMs: 300,
  maxStalled: 20,
};

/** The same for expensive requests. A long one is no sign that the database is stuck, so none starts beyond that. */
const dearShare = { ...share, atOnce: 3, atOncePerShipper: 2, maxUnread: 4, stalledAfterMs: Infinity };

/** Of requests under way. */
const maxBodyBytes = 64 * 1024 * 1024;

/** Who may call, and how often: login, accounts after their registration, and who did what. */
export function openAccounts(resources: Resources, refusals: Refusals): Accounts {
  const { config, apiDb: db, limits, metrics, times } = resources;
  const tokens = createTokens({
    secret: config.TOKEN_SECRET,
    previousSecret: config.TOKEN_SECRET_PREVIOUS,
    lifetimeMs: config.TOKEN_TTL,
  });
  const standings = createStandings(db);
  const onChanged = standings.forget;
  const onLimited = (limit: string) => metrics.rateLimited.inc({ limit });
  const onRefused = () => onLimited('at_once');
  const loginLimits = createLoginLimits({
    limits,
    perAccount: config.LOGIN_LIMIT_ACCOUNT,
    failuresPerIp: config.LOGIN_LIMIT_IP,
    secret: config.TOKEN_SECRET,
    onLimited,
  });
  const webhooks = {
    suspend: suspendWebhooks,
    resume: async (tx: typeof db, shipperId: string) => {
      await forgetCircuits(tx, shipperId);
      await resumeWebhooks(tx, shipperId);
    },
    remove: deleteWebhooks,
  };
  return {
    authenticate: {
      shipper: authenticateShipper(db, tokens, standings),
      operator: authenticateOperator(operatorsOf(config), refusals),
    },
    limit: createApiLimit(limits, config.API_RATE_LIMIT, onLimited, config.TIME_SCALE),
    shares: { usual: createShares({ ...share, onRefused }), dear: createShares({ ...dearShare, onRefused }) },
    bodyBytes: createBodyBytes({ maxBytes: maxBodyBytes, onRefused }),
    passwordPage: passwordPage(db, onChanged),
    routes: (handOver) => [
      loginRoute(db, tokens, loginLimits, refusals),
      ...shipperRoutes({
        db,
        webhooks,
        onStopped: () => untilNoSendCanStart(times),
        onResumed: async (shipperId) => handOver.notify(dueSinceUnknown(await webhooksOf(db, shipperId))),
        onChanged,
      }),
      ...userRoutes({ db, onChanged }),
      ...auditRoutes({ db }),
    ],
  };
}
