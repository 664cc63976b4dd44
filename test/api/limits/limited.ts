import { expect } from '@jest/globals';
import type { ApiResponse } from '../../support/client.js';
import { expectFailure } from '../../support/expect.js';
import { figureOf } from '../../support/client.js';

export function expectLimited(response: ApiResponse, withinSeconds = 3_600): void {
  expectFailure(response, 429);
  expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(withinSeconds);
}

export const tally = (responses: ApiResponse[]): Record<number, number> =>
  responses.reduce<Record<number, number>>(
    (counts, { httpStatus }) => ({ ...counts, [httpStatus]: (counts[httpStatus] ?? 0) + 1 }),
    {},
  );

export async function inSequences(
  sequences: number,
  count: number,
  call: (index: number) => Promise<ApiResponse>,
) {
  const responses: ApiResponse[] = [];
  let next = 0;
  const lane = async () => {
    while (next < count) responses.push(await call(next++));
  };
  await Promise.all(Array.from({ length: sequences }, lane));
  return responses;
}

/** As its metrics count. */
export const limited = async (limit: string, service: { url: string }): Promise<number> =>
  (await figureOf(service, `rate_limited_total{limit="${limit}"}`)) || 0;
