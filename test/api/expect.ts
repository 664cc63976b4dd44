import { expect } from '@jest/globals';
import type { Account, Answer } from '../client.js';
import { pause } from '../pause.js';

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

/** The whole form of a failure (contract, section 2): envelope, code, request id, the headers that belong to it. */
export function expectFailure(answer: Answer, httpStatus: number): void {
  expect({ httpStatus: answer.httpStatus, status: answer.body.status }).toEqual({
    httpStatus,
    status: codes[httpStatus],
  });
  expect(Object.keys(answer.body)).toEqual(['version', 'status', 'timestamp', 'error']);
  expect(answer.body.version).toMatch(/^\d+\.\d+\.\d+$/);
  expectRecent(answer.body.timestamp);
  const { message, requestId, details, ...rest } = answer.body.error;
  expect(rest).toEqual({});
  expect(message).toEqual(expect.stringMatching(/./));
  expect(requestId).toBe(answer.headers.get('x-request-id'));
  if (details) {
    for (const detail of details) {
      expect(detail).toEqual({ path: expect.stringMatching(/./), message: expect.stringMatching(/./) });
    }
  }
  if (httpStatus === 400) expect(details?.length).toBeGreaterThan(0);
  if (httpStatus === 401) expect(answer.headers.get('www-authenticate')).toMatch(/^(Bearer|Basic) /);
  if (httpStatus === 405) expect(answer.headers.get('allow')).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
}

/** 400, and exactly these paths named (in any order, each at least once). */
export function expectWrong(answer: Answer, paths: string[]): void {
  expectFailure(answer, 400);
  expect([...new Set(answer.body.error.details?.map(({ path }) => path))].sort()).toEqual([...paths].sort());
}

/** The whole form of a success: the envelope, with `processId` on order integration only. */
export function expectSuccess(answer: Answer, httpStatus: 200 | 201 | 202): void {
  expect({ httpStatus: answer.httpStatus, error: answer.body.error }).toEqual({
    httpStatus,
    error: undefined,
  });
  const fields = ['version', 'status', 'timestamp', 'data'];
  expect(Object.keys(answer.body).filter((name) => name !== 'processId')).toEqual(fields);
  expect(answer.body.version).toBe('1.0.0');
  expect(answer.body.status).toBe(httpStatus === 201 ? 'CREATED' : 'OK');
  expectRecent(answer.body.timestamp);
  expect(Array.isArray(answer.data)).toBe(false);
  expect(typeof answer.data).toBe('object');
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.headers.get('x-request-id')).toMatch(/./);
}

/** Integer milliseconds, of this minute. */
export function expectRecent(timestamp: number): void {
  expect(Number.isInteger(timestamp)).toBe(true);
  expect(Math.abs(timestamp - Date.now())).toBeLessThan(60_000);
}

/** Tracks until the shipment is in that state; the answer. */
export async function untilState(account: Account, trackingId: string, state: string): Promise<Answer> {
  const startedAt = Date.now();
  for (;;) {
    const answer = await account.call(`/v1/shipment-tracking/${trackingId}`);
    if (answer.data?.state === state) return answer;
    if (Date.now() > startedAt + 10_000)
      throw new Error(`not ${state} in time: ${JSON.stringify(answer.body)}`);
    await pause(startedAt);
  }
}
