import { createOperatorClient, ParcelhookError, type Detail } from '../client/index.js';
import { version } from '../platform/version.js';

const timeoutMs = 10_000;
const unavailableStatuses = [502, 503, 504]; // a proxy without a service behind it also responds with these

/** `code` is the envelope's status; unset if there was no envelope. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly code?: string,
    readonly error?: { message: string; details?: Detail[] },
  ) {
    super(message);
  }
}

export class Unreachable extends Error {}

export interface PostOptions {
  repeatable?: boolean;
  timeoutMs?: number;
}

export interface OperatorClient {
  get(path: string): Promise<Record<string, unknown>>;
  post(path: string, json: string, options?: PostOptions): Promise<Record<string, unknown>>;
  patch(path: string, json: string): Promise<Record<string, unknown>>;
  delete(path: string): Promise<Record<string, unknown>>;
}

/** Commands take paths as strings and print any data. */
type Untyped = (
  method: 'get' | 'post' | 'patch' | 'delete',
  path: string,
  options: { json?: string } & PostOptions,
) => Promise<Record<string, unknown>>;

/** Returns the envelope's `data` for any 2xx, else throws Refused or Unreachable with a message to print unchanged. */
export function createClient({ url, token }: { url: string; token: string }): OperatorClient {
  const { request } = createOperatorClient({ url, token, userAgent: `parcelhook-operator/${version}` });

  async function call(...[method, path, options]: Parameters<Untyped>) {
    const limitMs = options.timeoutMs ?? timeoutMs;
    try {
      // A user is waiting, so all tries share the time of one.
      const limits = { timeoutMs: limitMs, totalTimeoutMs: limitMs };
      return await (request as Untyped)(method, path, { ...options, ...limits });
    } catch (error) {
      throw error instanceof ParcelhookError ? toCliError(withoutQuery(url), error) : error;
    }
  }

  return {
    get: (path) => call('get', path, {}),
    post: (path, json, options) => call('post', path, { json, ...options }),
    patch: (path, json) => call('patch', path, { json }),
    delete: (path) => call('delete', path, { repeatable: false }), // a retry that finds it gone would be refused
  };
}

function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, '');
}

function toCliError(base: string, error: ParcelhookError): Error {
  const { code, status, message, details } = error;
  if (code === 'TIMEOUT') return new Unreachable(message);
  if (code === 'UNREACHABLE') {
    return new Unreachable(`${message.slice(0, -1)}. Is the service running? Check --url or PARCELHOOK_URL.`);
  }
  const isUnexpected = code === 'UNEXPECTED_ANSWER';
  if (isUnexpected && status === null) return new Refused(message);
  if (isUnexpected && status! < 300) return new Refused(`${message} Is --url right?`);
  const said = isUnexpected ? `HTTP ${status}` : `${status} ${code}: ${message}`;
  const text = [`${base} returned ${said}`, ...notes(error, isUnexpected)].join('\n  ');
  if (unavailableStatuses.includes(status ?? 0)) return new Unreachable(text);
  return isUnexpected
    ? new Refused(text)
    : new Refused(text, code, { message, ...(details.length > 0 && { details }) });
}

function notes(
  { status, details, retryAfterMs, requestId }: ParcelhookError,
  isUnexpected: boolean,
): string[] {
  const lines = details.map(({ path, message }) => `${path}: ${message}`);
  if (status === 401)
    lines.push('Check --token or OPERATOR_TOKEN: it must be one that the service was started with.');
  if (isUnexpected) lines.push('Is --url right?');
  if (status === 429 && retryAfterMs !== null)
    lines.push(`retry after: ${Math.ceil(retryAfterMs / 1_000)} s`);
  if (requestId && !isUnexpected) lines.push(`request id: ${requestId}`);
  return lines;
}
