import type { Request, Response } from 'express';
import { addressOf, requireSameOrigin } from '../../http/origin.js';
import type { Caller, OperatorScope } from '../../http/route.js';
import type { Database } from '../../platform/database/postgres.js';
import { unauthorized, forbidden, suspended, insufficientScope } from '../../platform/errors.js';
import type { Refusals } from '../audit.js';
import { programTokenPrefix, sameText, sha256 } from '../credentials.js';
import { isGoodNow, judgeBy, type PrincipalCache } from '../principal-cache.js';
import type { Programs } from '../programs/authenticate.js';
import { accountKeyExists } from '../shippers.js';
import { isSupportToken, type SupportSessions } from '../support/sessions.js';
import type { Tokens, VerifiedClaims } from '../tokens.js';

/** The session's cookie: no script reads it, no other site's page sends it. */
type SessionCookie = ReturnType<typeof createSessionCookie>;

const tokenPattern = /^[\w.-]{1,4096}$/;

/**
 * Over HTTPS its name has the prefix `__Host-` (RFC 6265bis): browsers then take it from this host alone. If two
 * cookies have the name, one is from elsewhere: neither counts.
 */
export function createSessionCookie(publicUrl: string | undefined) {
  const isSecure = publicUrl !== undefined && new URL(publicUrl).protocol === 'https:';
  const name = isSecure ? '__Host-parcelhook' : 'parcelhook-session';
  const header = (value: string, maxAgeSeconds: number) =>
    `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    /** The token; empty if what was sent cannot be one; null without the cookie. */
    read: ({ headers }: Request) => {
      const values = (headers.cookie ?? '')
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${name}=`))
        .map((pair) => pair.slice(name.length + 1));
      if (values.length === 0) return null;
      return values.length === 1 && tokenPattern.test(values[0]!) ? values[0]! : '';
    },
    set: (response: Response, token: string, lifetimeSeconds: number) =>
      void response.set('Set-Cookie', header(token, lifetimeSeconds)),
    clear: (response: Response) => void response.set('Set-Cookie', header('', 0)),
  };
}

const forms = {
  Bearer: {
    pattern: /^Bearer +([\w.~+/=-]{1,4096})$/i,
    form: '`Authorization: Bearer <token>`',
  },
  Basic: {
    pattern: /^Basic +([A-Za-z0-9+/_=-]{1,4096})$/i,
    form: '`Authorization: Basic <Base64 of e-mail:password>`',
  },
};
type Scheme = keyof typeof forms;

export function keyAndCredentials(
  request: Request,
  scheme: Scheme,
  credentials = credentialsIn(request.headers.authorization ?? '', scheme),
): { accountKey: string; credentials: string } {
  const { key } = request.query;
  const header = request.headers.authorization ?? '';
  const problems = [
    ...keyProblems(key),
    ...(credentials === undefined ? headerProblems(header, scheme) : []),
    ...(scheme === 'Bearer' ? noToken(credentials) : []),
  ];
  if (problems.length > 0) throw unauthorized(scheme, problems.join(' '));
  return { accountKey: key as string, credentials: credentials! };
}

const tokenSource =
  'Get a token from GET /v1/login with the account key and Basic e-mail:password, or make one in the portal under Tokens.';

function noToken(credentials: string | undefined): string[] {
  if (credentials === undefined) return [tokenSource];
  const kind = credentials.startsWith('ak_')
    ? 'the account key'
    : credentials.startsWith('whsec_') && "a webhook's secret";
  return kind ? [`That is ${kind}; send the token from /v1/login.`] : [];
}

const tokenIn = (request: Request): string | undefined =>
  credentialsIn(request.get('authorization') ?? '', 'Bearer');

function tokenOf(request: Request): string {
  const header = request.get('authorization') ?? '';
  const token = credentialsIn(header, 'Bearer');
  if (token === undefined) throw unauthorized('Bearer', headerProblems(header, 'Bearer').join(' '));
  return token;
}

export const malformed = (scheme: Scheme) =>
  `The Authorization header is malformed: expected ${forms[scheme].form}.`;

const credentialsIn = (header: string, scheme: Scheme): string | undefined =>
  forms[scheme].pattern.exec(header)?.[1];

function keyProblems(key: unknown): string[] {
  if (key === undefined || key === '') return ['The query parameter `key` is missing.'];
  if (Array.isArray(key)) return ['The query parameter `key` is given more than once.'];
  if (/^(?:eyJ|phk_)/.test(key as string))
    return [
      'The query parameter `key` is a token; send that as `Authorization: Bearer <token>`, and the account key here.',
    ];
  return (key as string).length > 255 ? ['The query parameter `key` is longer than any account key.'] : [];
}

function headerProblems(header: string, scheme: Scheme): string[] {
  if (header === '') return [`The Authorization header is missing: expected ${forms[scheme].form}.`];
  const other = Object.keys(forms).find((name) => header.toLowerCase().startsWith(name.toLowerCase()));
  if (other === undefined || other === scheme) return [malformed(scheme)];
  return [`Expected ${forms[scheme].form}, got ${other}.`];
}

/**
 * Notes the use of a request's session, and renews it if that is due. Returns the time at which the session ends. Call
 * it last: if the session was ended or replaced meanwhile, the renewed cookie must not overwrite the browser's newer one.
 */
export async function slide(
  { sessions, cookie, noteUse }: Pick<ShipperCredentials, 'sessions' | 'cookie' | 'noteUse'>,
  principals: PrincipalCache,
  response: Response,
  claims: VerifiedClaims,
): Promise<number> {
  noteUse(claims.session!.sessionId);
  const renewed = await sessions.renew(claims);
  if (!renewed || !(await isGoodNow(principals, claims))) return claims.expiresAtMs;
  if (!response.headersSent) cookie.set(response, renewed.token, renewed.lifetimeSeconds);
  return renewed.expiresAtMs;
}

/** How a shipper's user proves who it is: by a bearer token, or by the portal's cookie. */
export interface ShipperCredentials {
  tokens: Tokens;
  sessions: Tokens;
  cookie: SessionCookie;
  noteUse(sessionId: string): void;
  supports: SupportSessions;
}

/** Null if a request without a key has none, because what it has besides names its shipper. */
function optionalKey({ query: { key } }: Request): string | null {
  const problems = key === undefined ? [] : keyProblems(key);
  if (problems.length > 0) throw unauthorized('Bearer', problems.join(' '));
  return (key as string | undefined) ?? null;
}

/**
 * A cookie does not count beside an Authorization header. Its token has the key, so the request may leave the key out.
 */
async function claimsOf(
  request: Request,
  bearer: string | undefined,
  { tokens, sessions, cookie }: ShipperCredentials,
): Promise<{ claims: VerifiedClaims | null; accountKey: string | null }> {
  const session = request.headers.authorization === undefined ? cookie.read(request) : null;
  if (session === null) {
    const { accountKey, credentials } = keyAndCredentials(request, 'Bearer', bearer);
    return { claims: await tokens.verify(credentials), accountKey };
  }
  requireSameOrigin(request);
  const accountKey = optionalKey(request);
  return { claims: await sessions.verify(session), accountKey };
}

/** The claims of the portal's cookie; null if the request has an `Authorization` header, or the cookie is not valid. */
export async function sessionIn(
  request: Request,
  { sessions, cookie }: Pick<ShipperCredentials, 'sessions' | 'cookie'>,
): Promise<VerifiedClaims | null> {
  return request.headers.authorization === undefined ? sessions.verify(cookie.read(request) ?? '') : null;
}

/** Null unless the portal's cookie is that of the operator's session. */
export function supportTokenIn(request: Request, cookie: SessionCookie): string | null {
  const session = request.headers.authorization === undefined ? cookie.read(request) : null;
  return session !== null && isSupportToken(session) ? session : null;
}

async function supportCaller(
  request: Request,
  token: string,
  { supports }: ShipperCredentials,
): Promise<Caller> {
  requireSameOrigin(request);
  if (optionalKey(request) !== null)
    throw unauthorized('Bearer', 'A session for support takes no account key.');
  const { shipperId, rateLimit, operator } = await supports.authenticate(token);
  return {
    shipperId,
    userId: '',
    rateLimit,
    operator: null,
    program: null,
    support: operator,
    address: addressOf(request),
  };
}

/**
 * Accepts a request as Authentication 3 of the specification asks, or with the token of a program. 403: the key is
 * another shipper's, the shipper is suspended, or no page of ours sent the cookie. 503: the token cannot be checked now.
 */
export const authenticateShipper =
  (db: Database, credentials: ShipperCredentials, principals: PrincipalCache, programs: Programs) =>
  async (request: Request): Promise<Caller> => {
    const bearer = tokenIn(request);
    if (bearer?.startsWith(programTokenPrefix)) {
      const program = await programs.authenticate(bearer, optionalKey(request));
      const { shipperId, rateLimit } = program;
      return { shipperId, userId: '', rateLimit, operator: null, program, address: addressOf(request) };
    }
    const supportToken = supportTokenIn(request, credentials.cookie);
    if (supportToken !== null) return supportCaller(request, supportToken, credentials);
    const { claims, accountKey } = await claimsOf(request, bearer, credentials);
    if (!claims) throw unauthorized();
    const { shipperId, userId } = claims;
    const hash = accountKey === null ? Buffer.from(claims.accountKeyHash, 'base64url') : sha256(accountKey);
    const { verdict, principal } = await judgeBy(principals, claims, hash.toString('base64url'));
    if (verdict === 'SUSPENDED') throw suspended();
    if (verdict === 'OTHER_KEY' && (await accountKeyExists(db, hash))) throw forbidden();
    if (verdict !== 'GOOD') throw unauthorized();
    const response = request.res!;
    if (claims.session) response.locals.renewSession = () => slide(credentials, principals, response, claims);
    return {
      shipperId,
      userId,
      rateLimit: principal!.rateLimit,
      operator: null,
      program: null,
      address: addressOf(request),
    };
  };

export const hasToken =
  (expected: string) =>
  (request: Request): boolean =>
    sameText(tokenOf(request), expected);

export interface OperatorToken {
  name: string;
  scope: OperatorScope;
  token: string;
}

/** `OPERATOR_TOKEN` has scope `admin`; the audit log names it `operator`. */
export const operatorsOf = (config: {
  OPERATOR_TOKEN: string;
  OPERATOR_TOKENS: OperatorToken[];
}): OperatorToken[] => [
  { name: 'operator', scope: 'admin', token: config.OPERATOR_TOKEN },
  ...config.OPERATOR_TOKENS,
];

const allows = (scope: OperatorScope, needed: OperatorScope) => scope === 'admin' || scope === needed;

/** Every token is compared, so that the time reveals nothing. */
const findByToken = (operators: OperatorToken[], given: string): OperatorToken | undefined =>
  operators.filter(({ token }) => sameText(given, token))[0];

/** The public page reveals whether a guess was right: wrong tokens go to the audit log once `refusals` exists. */
export const hasOperatorToken =
  (operators: OperatorToken[], refusals: () => Refusals | undefined) =>
  (request: Request): boolean => {
    const given = tokenIn(request);
    if (given === undefined) return false;
    const operator = findByToken(operators, given);
    if (operator && allows(operator.scope, 'read')) return true;
    noteRefused(refusals(), operator, request);
    return false;
  };

const noteRefused = (refusals: Refusals | undefined, operator: OperatorToken | undefined, request: Request) =>
  refusals?.note(
    { kind: operator ? 'OPERATOR' : 'UNKNOWN', name: operator?.name ?? null, address: addressOf(request) },
    { action: 'OPERATOR_REFUSED' },
  );

/** Refuses with 401 without one of the tokens, with 403 if its scope is too small. Both go to the audit log. */
export const authenticateOperator =
  (operators: OperatorToken[], refusals: Refusals) =>
  // oxlint-disable-next-line typescript/require-await
  async (request: Request, needed: OperatorScope): Promise<Caller> => {
    const given = tokenOf(request);
    const operator = findByToken(operators, given);
    if (operator && allows(operator.scope, needed))
      return {
        shipperId: '',
        userId: '',
        operator: operator.name,
        program: null,
        address: addressOf(request),
      };
    noteRefused(refusals, operator, request);
    throw operator
      ? insufficientScope('operator token', needed)
      : unauthorized('Bearer', 'The operator token is not valid.');
  };
