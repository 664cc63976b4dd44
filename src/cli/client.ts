import { createOperatorClient, ParcelhookError, type Detail } from '../client/index.js';
import { version } from '../version.js';

const timeoutMs = 10_000;
const unavailable = [502, 503, 504]; // what a proxy answers for a service that is away, too

/** The service answered, and the answer is no. `code` is the envelope's status; unset if it had no envelope. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly code?: string,
    readonly error?: { message: string; details?: Detail[] },
  ) {
    super(message);
  }
}

/** The service cannot be reached or says that it cannot work now. */
export class Unreachable extends Error {}

export interface PostOptions {
  /** The request may be sent again without harm: connection errors and 503 are retried then. */
  repeatable?: boolean;
  timeoutMs?: number;
}

export interface OperatorClient {
  get(path: string): Promise<Record<string, unknown>>;
  /** `json` is sent as it is. */
  post(path: string, json: string, options?: PostOptions): Promise<Record<string, unknown>>;
  patch(path: string, json: string): Promise<Record<string, unknown>>;
  delete(path: string): Promise<Record<string, unknown>>;
}

/** Commands name paths as texts, and print what is answered whatever it is. */
type Untyped = (
  method: 'get' | 'post' | 'patch' | 'delete',
  path: string,
  options: { json?: string } & PostOptions,
) => Promise<Record<string, unknown>>;

/**
 * The operator API at `url`. Calls answer the envelope's `data` for any 2xx and throw Refused or Unreachable
 * otherwise; both have a message to show as it is.
 */
export function createClient({ url, token }: { url: string; token: string }): OperatorClient {
  const { request } = createOperatorClient({ url, token, userAgent: `parcelhook-operator/${version}` });

  async function call(...[method, path, options]: Parameters<Untyped>) {
    const limitMs = options.timeoutMs ?? timeoutMs;
    try {
      // Somebody is waiting: what took one try's whole time is not tried again.
      const limits = { timeoutMs: limitMs, totalTimeoutMs: limitMs };
      return await (request as Untyped)(method, path, { ...options, ...limits });
    } catch (error) {
      throw error instanceof ParcelhookError ? inWords(withoutQuery(url), error) : error;
    }
  }

  return {
    get: (path) => call('get', path, {}),
    post: (path, json, options) => call('post', path, { json, ...options }),
    patch: (path, json) => call('patch', path, { json }),
    delete: (path) => call('delete', path, { repeatable: false }), // again, what is gone would be refused
  };
}

function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, '');
}

function inWords(base: string, error: ParcelhookError): Error {
  const { code, status, message, details } = error;
  if (code === 'TIMEOUT') return new Unreachable(message);
  if (code === 'UNREACHABLE') {
    return new Unreachable(
      `${message.slice(0, -1)}. Is the service running, and --url or PARCELHOOK_URL right?`,
    );
  }
  const isForeign = code === 'UNEXPECTED_ANSWER';
  if (isForeign && status !== null && status < 300) return new Refused(`${message} Is --url right?`);
  const said = isForeign ? `HTTP ${status}` : `${status} ${code}: ${message}`;
  const text = [`${base} answered ${said}`, ...notes(error, isForeign)].join('\n  ');
  if (unavailable.includes(status ?? 0)) return new Unreachable(text);
  return isForeign
    ? new Refused(text)
    : new Refused(text, code, { message, ...(details.length > 0 && { details }) });
}

function notes({ status, details, retryAfterMs, requestId }: ParcelhookError, isForeign: boolean): string[] {
  const lines = details.map(({ path, message }) => `${path}: ${message}`);
  if (status === 401) lines.push('Is --token or OPERATOR_TOKEN one that the service was started with?');
  if (isForeign) lines.push('Is --url right?');
  if (status === 429 && retryAfterMs !== null)
    lines.push(`retry after: ${Math.ceil(retryAfterMs / 1_000)} s`);
  if (requestId && !isForeign) lines.push(`request id: ${requestId}`);
  return lines;
}
