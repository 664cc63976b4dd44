import { isUtf8 } from 'node:buffer';
import type { RequestHandler } from 'express';
import readRaw from 'raw-body';
import { ApiError, type Detail } from '../../platform/errors.js';
import { maxDetails } from '../route.js';

const maxBodyBytes = 256 * 1024;
const maxDepth = 32;
const maxNameLength = 100; // of a key in `details`
const jsonTypes = ['application/json', '+json'];
const otherCharset = /;\s*charset\s*=(?!\s*"?utf-8"?\s*(;|$))/i;
const refusedKeys = new Set(['__proto__', 'constructor']);

/**
 * Reads a JSON body of at most 256 KiB. Anything in it that PostgreSQL or JavaScript could stumble over is handed on by
 * path, to be named with whatever else is wrong (see `parseRequest`). The end of a body that is too large is not waited
 * for.
 */
export function jsonBody(): RequestHandler {
  return async (request, response, next) => {
    const { 'content-length': length = null, 'transfer-encoding': coding } = request.headers;
    const isJson = request.is(jsonTypes);
    if (!isJson && coding === undefined && (length ?? '0') === '0') return next();
    const compression = request.get('content-encoding') ?? 'identity';
    if (!isJson || otherCharset.test(request.get('content-type') ?? '') || !/^identity$/i.test(compression))
      throw unsupportedMediaType();
    const bytes = await readRaw(request, { length, limit: maxBodyBytes });
    const details: Detail[] = isUtf8(bytes) ? [] : [{ path: 'body', message: 'must be UTF-8' }];
    request.body = parse(bytes.toString(), details);
    inspect(request.body, '', 0, details);
    response.locals.bodyDetails = details;
    next();
  };
}

const byteOrderMark = '\ufeff';

function parse(text: string, details: Detail[]): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text);
  } catch {
    details.push({ path: 'body', message: 'must be valid JSON' });
    return undefined;
  }
}

export const unsupportedMediaType = () =>
  new ApiError(415, 'UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json, UTF-8, not compressed.');

export const payloadTooLarge = () =>
  new ApiError(413, 'PAYLOAD_TOO_LARGE', `The body must have at most ${maxBodyBytes} bytes.`);

/**
 * Names every key and value that must not get further: prototype keys, U+0000, lone surrogates, numbers beyond
 * JavaScript's, too deep nesting.
 */
function inspect(value: unknown, path: string, depth: number, details: Detail[]): void {
  if (details.length >= maxDetails) return;
  if (typeof value === 'number' && !Number.isFinite(value)) {
    details.push({ path: path || 'body', message: 'must be a finite number' });
  }
  if (typeof value === 'string') {
    if (value.includes('\0') || !value.isWellFormed()) {
      details.push({ path: path || 'body', message: 'must not contain U+0000 or half a surrogate pair' });
    }
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth === maxDepth) {
    details.push({ path, message: `must not be nested deeper than ${maxDepth} levels` });
    return;
  }
  for (const [key, child] of Object.entries(value)) {
    const name = key.slice(0, maxNameLength).toWellFormed();
    const childPath = Array.isArray(value) ? `${path}[${name}]` : path ? `${path}.${name}` : name;
    if (refusedKeys.has(key)) details.push({ path: childPath, message: 'must not be there' });
    else {
      inspect(key, childPath, depth + 1, details);
      inspect(child, childPath, depth + 1, details);
    }
  }
}
