import type { RequestHandler } from 'express';
import { ApiError } from '../../platform/errors.js';
/**
 * Reads a JSON body of at most 256 KiB; anything PostgreSQL or JavaScript could stumble over is refused by path. The
 * end of a body that is refused is not waited for.
 */
export declare function jsonBody(): RequestHandler;
export declare const unsupportedMediaType: () => ApiError;
export declare const payloadTooLarge: () => ApiError;
