import { createOperatorClient, ParcelhookError, type CallOptions, type Detail } from '../client/index.js';
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

interface SendOptions extends CallOptions {
  path?: Record<string, string>;
  query?: object;
  body?: object;
  json?: string;
  repeatable?: boolean;
}

export type Data = Record<string, unknown>;

/**
 * Fills the `{names}` of the path. Returns the envelope's `data` for any 2xx, else throws Refused or Unreachable with a
 * message to print unchanged.
 */
export type Send = (
  method: 'get' | 'post' | 'patch' | 'delete',
  path: string,
  options?: SendOptions,
) => Promise<Data>;

export function createSend({ url, token }: { url: string; token: string }): Send {
  const { request } = createOperatorClient({ url, token, userAgent: `parcelhook-operator/${version}` });
  return async (method, path, options = {}) => {
    // A user is waiting, so all tries share the time of one.
    const totalTimeoutMs = options.timeoutMs ?? timeoutMs;
    // A DELETE that a retry finds done would be refused.
    const repeatable = method === 'get' || method === 'patch';
    const limited = { timeoutMs, repeatable, ...options, totalTimeoutMs };
    try {
      return await (request as unknown as Send)(method, path, limited);
    } catch (error) {
      throw error instanceof ParcelhookError ? toCliError(withoutQuery(url), error) : error;
    }
  };
}

function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, '');
}

function toCliError(base: string, error: ParcelhookError): Error {
  const { code, status, details } = error;
  const message = withoutFirst(error);
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

/** The message without its first detail: all of them are listed below it. */
function withoutFirst({ message, details: [first] }: ParcelhookError): string {
  const end = first ? message.indexOf(`: ${first.path} ${first.message}`) : -1;
  return end === -1 ? message : `${message.slice(0, end)}.`;
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
