import { expect } from '@jest/globals';
import type { Account, ApiResponse } from './client.js';
import { pause } from './until.js';

export const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const offsetForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?\+00:00$/;

const codes: Record<number, string> = {
  400: 'INVALID_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  408: 'INVALID_REQUEST',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'TOO_MANY_REQUESTS',
  431: 'INVALID_REQUEST',
};

/** Checks a failure: its envelope, code, request id and headers. */
export function expectFailure(response: ApiResponse, httpStatus: number): void {
  expect({ httpStatus: response.httpStatus, status: response.body.status }).toEqual({
    httpStatus,
    status: codes[httpStatus],
  });
  expect(Object.keys(response.body)).toEqual(['version', 'status', 'timestamp', 'error']);
  expect(response.body.version).toMatch(/^\d+\.\d+\.\d+$/);
  expectRecent(response.body.timestamp);
  const { message, requestId, details, ...rest } = response.body.error;
  expect(rest).toEqual({});
  expect(message).toEqual(expect.stringMatching(/./));
  expect(requestId).toBe(response.headers.get('x-request-id'));
  if (details) {
    for (const detail of details) {
      expect(detail).toEqual({ path: expect.stringMatching(/./), message: expect.stringMatching(/./) });
    }
  }
  if (httpStatus === 400) expect(details?.length).toBeGreaterThan(0);
  if (httpStatus === 401) expect(response.headers.get('www-authenticate')).toMatch(/^(Bearer|Basic) /);
  if (httpStatus === 405) expect(response.headers.get('allow')).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
}

export function expectWrong(response: ApiResponse, paths: string[]): void {
  expectFailure(response, 400);
  expect([...new Set(response.body.error.details?.map(({ path }) => path))].sort()).toEqual(
    [...paths].sort(),
  );
}

/** `processId` is on order integration only; `warnings` only where the test expects some. */
export function expectSuccess(
  response: ApiResponse,
  httpStatus: 200 | 201 | 202,
  warned: string[] = [],
): void {
  expect({ httpStatus: response.httpStatus, error: response.body.error }).toEqual({
    httpStatus,
    error: undefined,
  });
  const { warnings = [] } = response.body as { warnings?: { path: string }[] };
  expect(warnings.map(({ path }) => path)).toEqual(warned);
  const fields = ['version', 'status', 'timestamp', 'data', ...(warned.length > 0 ? ['warnings'] : [])];
  expect(Object.keys(response.body).filter((name) => name !== 'processId')).toEqual(fields);
  expect(response.body.version).toBe('1.0.0');
  expect(response.body.status).toBe(httpStatus === 201 ? 'CREATED' : 'OK');
  expectRecent(response.body.timestamp);
  expect(Array.isArray(response.data)).toBe(false);
  expect(typeof response.data).toBe('object');
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(response.headers.get('x-request-id')).toMatch(/./);
}

export function expectRecent(timestamp: number): void {
  expect(Number.isInteger(timestamp)).toBe(true);
  expect(Math.abs(timestamp - Date.now())).toBeLessThan(60_000);
}

export async function untilState(account: Account, trackingId: string, state: string): Promise<ApiResponse> {
  const startedAt = Date.now();
  for (;;) {
    const response = await account.call(`/v1/shipment-tracking/${trackingId}`);
    if (response.data?.state === state) return response;
    if (Date.now() > startedAt + 60_000)
      throw new Error(`not ${state} in time: ${JSON.stringify(response.body)}`);
    await pause(startedAt);
  }
}
