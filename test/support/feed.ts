import { figureOf, type Account, type ApiResponse } from './client.js';
import { expectSuccess } from './expect.js';
import { until } from './until.js';

export const cursorOf = ({ data }: ApiResponse): string => data.nextCursor as string;

export const statesOf = (response: ApiResponse): string[] => {
  expectSuccess(response, 200);
  return (response.data.events as { state: string }[]).map(({ state }) => state);
};

export const latest = async (of: Account): Promise<string> =>
  cursorOf(await of.call('/v1/events?after=latest'));

/** Waits for new events, by default for those after now. */
export const poll = async (of: Account, query?: string, wait = '15s') => {
  const response = await of.call(`/v1/events?${query ?? `after=${await latest(of)}`}&wait=${wait}`);
  return { response, at: Date.now() };
};

export const untilWaiting = (at: { url: string }, count = 1) =>
  until('the reader waits', async () => (await figureOf(at, 'feed_waiting')) >= count);
