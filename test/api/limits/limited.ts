import { expect } from '@jest/globals';
import type { ApiResponse } from '../../support/client.js';
import { expectFailure } from '../../support/expect.js';

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
export async function limited(limit: string, { url }: { url: string }): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = new RegExp(`^parcelhook_rate_limited_total\\{limit="${limit}"\\} (\\d+)$`, 'm');
  return Number(line.exec(text)?.[1] ?? 0);
}
