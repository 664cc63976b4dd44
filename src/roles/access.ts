import type { Refusals } from '../accounts/audit.js';
import {
  operatorsOf,
  authenticateShipper,
  authenticateOperator,
  createSessionCookie,
} from '../accounts/login/authenticate.js';
import { createLoginLimits } from '../accounts/login/limits.js';
import { passwordLinkRoute } from '../accounts/login/password-link.js';
import { createLogIn, loginRoute, sessionRoutes } from '../accounts/login/routes.js';
import { ownAccountRoutes } from '../accounts/own-routes.js';
import { createNoteUse } from '../accounts/login/sessions.js';
import { passwordPage } from '../accounts/password-page.js';
import { supportPage, createSupportSessions } from '../accounts/support/sessions.js';
import { createPrincipalCache } from '../accounts/principal-cache.js';
import { createPrograms } from '../accounts/programs/authenticate.js';
import { authorizeProgram } from '../accounts/programs/authorize.js';
import { confirmPage } from '../webhooks/mails/addresses.js';
import { findWebhookByName } from '../webhooks/store.js';
import { createTokens } from '../accounts/tokens.js';
import { createApiLimit, createShares } from '../http/request/shares.js';
import { createBodyBytes } from '../http/request/body.js';
import { findReplay } from '../catch-up/replay/request-store.js';
import { findWebhookOfDelivery } from '../history/log/store.js';
import type { Resources } from './resources.js';

export type Access = ReturnType<typeof openAccess>;

/**
 * The share of a shipper leaves enough of the pool's connections for orders, and bounds the memory of unread responses.
 */
const share = {
  maxUnderWay: 1_000,
  concurrency: 4,
  concurrencyPerShipper: 3,
  maxUnread: 8,
  maxWaitMs: 5_000,
  stalledAfterMs: 300,
  maxStalled: 20,
  maxOutside: 20,
};

/** A long costly request is no sign of a stuck database, so it never lets more start. */
const costlyShare = {
  ...share,
  concurrency: 3,
  concurrencyPerShipper: 2,
  maxUnread: 4,
  stalledAfterMs: Infinity,
};

/** The bodies of all current requests together. */
const maxBodyBytes = 64 * 1024 * 1024;

export function openAccess(resources: Resources, refusals: Refusals) {
  const { config, apiDb: db, limits, metrics } = resources;
  const signing = {
    secret: config.TOKEN_SECRET,
    previousSecret: config.TOKEN_SECRET_PREVIOUS,
    lifetimeMs: config.TOKEN_TTL,
  };
  const sessions = createTokens({ ...signing, audience: 'portal' });
  const credentials = {
    tokens: createTokens({ ...signing, audience: 'api' }),
    sessions,
    noteUse: createNoteUse(db, sessions),
    cookie: createSessionCookie(config.PUBLIC_URL),
    supports: createSupportSessions(db),
  };
  const principals = createPrincipalCache(db);
  const programs = createPrograms(db);
  const onAccountChanged = () => {
    principals.clear();
    programs.clear();
    credentials.supports.clear();
  };
  const onLimited = (limit: string) => metrics.rateLimited.inc({ limit });
  const onRefused = () => onLimited('at_once');
  const loginLimits = createLoginLimits({
    limits,
    perAccount: config.LOGIN_LIMIT_ACCOUNT,
    failuresPerIp: config.LOGIN_LIMIT_IP,
    secret: config.TOKEN_SECRET,
    onLimited,
  });
  const mails = config.SMTP_URL !== undefined;
  const logIn = createLogIn(db, loginLimits, refusals);
  return {
    authenticate: {
      shipper: authenticateShipper(db, credentials, principals, programs),
      operator: authenticateOperator(operatorsOf(config), refusals),
    },
    authorize: authorizeProgram({
      delivery: (shipperId, deliveryId) => findWebhookOfDelivery(db, shipperId, deliveryId),
      replay: async (shipperId, replayId) => (await findReplay(db, replayId, shipperId))?.webhookId ?? null,
      name: async (shipperId, name) =>
        (await findWebhookByName(db, shipperId, name))?.webhook.webhookId ?? null,
    }),
    limit: createApiLimit(limits, config.API_RATE_LIMIT, onLimited, config.TIME_SCALE),
    shares: {
      usual: createShares({ ...share, onRefused }),
      costly: createShares({ ...costlyShare, onRefused }),
    },
    bodyBytes: createBodyBytes({ maxBytes: maxBodyBytes, onRefused }),
    linkPages: [
      passwordPage({ db, mails, onPasswordSet: principals.clear }),
      confirmPage(db),
      supportPage(db, credentials.cookie.set),
    ],
    loginRoutes: [
      loginRoute(logIn, credentials.tokens),
      ...sessionRoutes({
        db,
        ...credentials,
        logIn,
        principals,
        features: { simulate: config.SIMULATE, email: mails },
      }),
      passwordLinkRoute({ db, limits, secret: config.TOKEN_SECRET, mails }),
      ...ownAccountRoutes({ db, ...credentials, logIn, principals }),
    ],
    /** Call it after every change of an account: this process has cached its users and programs. */
    onAccountChanged,
  };
}
