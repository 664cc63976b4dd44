import { connect } from 'node:net';
import { operatorToken } from './process.js';

export interface ApiResponse<Data = Record<string, any>> {
  httpStatus: number;
  headers: Headers;
  body: {
    version: string;
    status: string;
    timestamp: number;
    processId?: string;
    data: Data;
    error: { message: string; requestId: string; details?: { path: string; message: string }[] };
  };
  data: Data;
}

export interface Request {
  method?: string;
  body?: unknown;
  /** Sent unchanged, instead of `body`. */
  raw?: string | Buffer;
  headers?: Record<string, string>;
}

export async function request(url: string, options: Request = {}): Promise<ApiResponse> {
  const content = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const response = await fetch(url, {
    method: options.method ?? (content === undefined ? 'GET' : 'POST'),
    headers: { ...(content !== undefined && { 'content-type': 'application/json' }), ...options.headers },
    ...(content !== undefined && { body: content as string }),
    signal: AbortSignal.timeout(50_000), // before the test's own end
  });
  const text = await response.text();
  const body = (text.startsWith('{') ? JSON.parse(text) : { text }) as ApiResponse['body'];
  return { httpStatus: response.status, headers: response.headers, body, data: body.data };
}

export const operator = (service: { url: string }, path: string, options: Request = {}) =>
  request(`${service.url}/operator/v1${path}`, {
    ...options,
    headers: { authorization: `Bearer ${operatorToken}`, ...options.headers },
  });

export interface Account {
  shipperId: string;
  userId: string;
  accountKey: string;
  email: string;
  password: string;
  token: string;
  call(path: string, options?: Request): Promise<ApiResponse>;
}

export const basic = (email: string, password: string) =>
  `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`;

/** Under load PostgreSQL may not accept a new connection in time (503): tries again. */
async function insist(ask: () => Promise<ApiResponse>): Promise<ApiResponse> {
  for (let triesLeft = 10; ; triesLeft -= 1) {
    const response = await ask();
    if (response.httpStatus !== 503 || triesLeft === 0) return response;
    console.warn(`registering an account comes again: ${JSON.stringify(response.body)}`);
  }
}

export async function registerAccount(
  service: { url: string },
  email = 'user@example.com',
): Promise<Account> {
  const password = 'correct horse battery';
  const shipper = await insist(() => operator(service, '/shippers', { body: { name: 'Shipper' } }));
  const { shipperId, accountKey } = shipper.data as Record<string, string>;
  const user = await insist(() =>
    operator(service, `/shippers/${shipperId}/users`, { body: { email, password } }),
  );
  const login = await insist(() =>
    request(`${service.url}/v1/login?key=${accountKey}`, {
      headers: { authorization: basic(email, password) },
    }),
  );
  const token = login.data.token as string;
  const call = (path: string, options: Request = {}) =>
    request(`${service.url}${path}${path.includes('?') ? '&' : '?'}key=${accountKey}`, {
      ...options,
      headers: { authorization: `Bearer ${token}`, ...options.headers },
    });
  return {
    shipperId: shipperId!,
    accountKey: accountKey!,
    userId: user.data.userId as string,
    email,
    password,
    token,
    call,
  };
}

export interface Program {
  tokenId: string;
  token: string;
  /** Without a key. */
  call(path: string, options?: Request): Promise<ApiResponse>;
}

/** A program of the account, with a token of its own. */
export async function newProgram(
  service: { url: string },
  account: Account,
  fields: { scopes: string[]; name?: string; webhookId?: string; expiresAt?: unknown },
): Promise<Program> {
  const response = await account.call('/v1/tokens', { body: { name: 'Shop', ...fields } });
  if (response.httpStatus !== 201) throw new Error(JSON.stringify(response.body));
  const { tokenId, token } = response.data as { tokenId: string; token: string };
  return { tokenId, token, call: programAt(service, token) };
}

export const programAt =
  ({ url }: { url: string }, token: string): Program['call'] =>
  (path, options = {}) =>
    request(url + path, { ...options, headers: { authorization: `Bearer ${token}`, ...options.headers } });

/** Sent with each request by a browser and by the portal's script. */
export const fromPortal = { 'sec-fetch-site': 'same-origin', 'parcelhook-csrf': '1' };

export const logInToPortal = (
  service: { url: string },
  { accountKey: key, email, password }: Pick<Account, 'accountKey' | 'email' | 'password'>,
  headers: Record<string, string> = fromPortal,
): Promise<ApiResponse> => request(`${service.url}/v1/session`, { body: { key, email, password }, headers });

/** Returns the cookie, as a browser sends it. */
export async function openSession(service: { url: string }, account: Account): Promise<string> {
  const response = await insist(() => logInToPortal(service, account));
  const cookie = response.headers.get('set-cookie')?.split(';')[0];
  if (cookie === undefined) throw new Error(JSON.stringify(response.body));
  return cookie;
}

/** Calls with the cookie and without a key. */
export const callAsPortal = (
  service: { url: string },
  cookie: string,
  path: string,
  { headers, ...options }: Request = {},
): Promise<ApiResponse> =>
  request(`${service.url}${path}`, { ...options, headers: { ...fromPortal, cookie, ...headers } });

/** The specification's order without optional fields. */
export const sampleOrder = () => ({
  recipientLocation: {
    street: 'Avenida Reforma',
    number: '222',
    administrativeArea: 'Jalisco',
    subAdministrativeArea: 'Guadalajara',
    country: 'MX',
    neighborhood: 'Centro',
    postalCode: '45010',
    notes: 'Ring twice',
    reference: 'Green door',
  },
  shipperTrackingId: 'SHIPPER-1',
  shipperDropoffDate: '2026-12-01T10:00:00Z',
  expectedDeliveryDate: '2026-12-03T18:00:00Z',
  recipientInformation: { fullName: 'Ana Torres', phone: '5512345678' },
  package: {
    packageType: 'UNIT',
    description: 'Books',
    contentValue: 349.5,
    valueCurrency: 'MXN',
    weight: 1.2,
    weightUnit: 'KG',
    length: 30,
    width: 20,
    height: 10,
    dimensionsUnit: 'CM',
  },
});

export async function placeOrder(account: Account, shipperTrackingId = 'SHIPPER-1'): Promise<string> {
  const response = await account.call('/v1/shipments', { body: { ...sampleOrder(), shipperTrackingId } });
  if (response.httpStatus !== 201) throw new Error(JSON.stringify(response.body));
  return response.data.trackingId as string;
}

/** It wants all states unless `fields` say otherwise. */
export async function registerWebhook(
  account: Account,
  targetAddress: string,
  fields: object = {},
): Promise<{ webhookId: string; secret: string }> {
  const response = await account.call('/v1/webhooks', {
    body: { interests: ['*'], targetAddress, ...fields },
  });
  if (response.httpStatus !== 201) throw new Error(JSON.stringify(response.body));
  return response.data as { webhookId: string; secret: string };
}

/** Reads all pages of a list; `path` has a query. */
export async function readAll<Item>(call: Account['call'], path: string, list: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { data } = await call(`${path}${cursor && `&cursor=${cursor}`}`);
    items.push(...(data[list] as Item[]));
    cursor = data.nextCursor as string | null;
  }
  return items;
}

/** Returns a process's metrics, as Prometheus reads them. */
export const metricsOf = async ({ url }: { url: string }): Promise<string> =>
  (await fetch(`${url}/metrics`)).text();

/** The value of a series, such as `ready{role="api"}`; NaN without it. */
export function figureIn(metrics: string, series: string): number {
  const start = `parcelhook_${series} `;
  const line = metrics.split('\n').find((one) => one.startsWith(start));
  return line === undefined ? NaN : Number(line.slice(start.length));
}

export const figureOf = async (process: { url: string }, series: string): Promise<number> =>
  figureIn(await metricsOf(process), series);

/** Reads until the service closes; for invalid HTTP. */
export function sendRaw(serviceUrl: string, bytes: string | Buffer, timeoutMs = 10_000): Promise<string> {
  const { hostname, port } = new URL(serviceUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const chunks: Buffer[] = [];
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error('the service did not close')));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
  });
}

export function parseResponse(text: string): ApiResponse {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const body = JSON.parse(text.slice(end + 4)) as ApiResponse['body'];
  return { httpStatus: Number(statusLine.split(' ')[1]), headers, body, data: body.data };
}
