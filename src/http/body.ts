import { isUtf8 } from 'node:buffer';
import express, { type RequestHandler, type Response } from 'express';
import { ApiError, invalidRequest, type Detail } from '../platform/errors.js';
import { maxDetails } from './route.js';

const maxBodyBytes = 256 * 1024;
const maxDepth = 32;
const maxNameLength = 100; // of a key in `details`
const jsonTypes = ['application/json', '+json'];
const otherCharset = /;\s*charset\s*=(?!\s*"?utf-8"?\s*(;|$))/i;
const refusedKeys = new Set(['__proto__', 'constructor']);

/** Reads a JSON body of at most 256 KiB; anything PostgreSQL or JavaScript could stumble over is refused by path. */
export function jsonBody(): RequestHandler[] {
  return [
    (request, _response, next) => {
      const length = request.headers['content-length'] ?? request.headers['transfer-encoding'] ?? '0';
      const supported = request.is(jsonTypes) && !otherCharset.test(request.get('content-type') ?? '');
      next(length !== '0' && !supported ? unsupportedMediaType() : undefined);
    },
    express.json({
      limit: maxBodyBytes,
      strict: false,
      inflate: false,
      type: jsonTypes,
      verify: (_request, response, bytes) => {
        (response as Response).locals.notUtf8 = !isUtf8(bytes);
      },
    }),
    (request, response, next) => {
      const details: Detail[] = response.locals.notUtf8 ? [{ path: 'body', message: 'must be UTF-8' }] : [];
      inspect(request.body, '', 0, details);
      next(details.length > 0 ? invalidRequest(details) : undefined);
    },
  ];
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
