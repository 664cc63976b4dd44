/** The filters by attempts find those that the hours of a webhook count. */
import { afterAll, expect, test } from '@jest/globals';
import { registerAccount } from '../../support/client.js';
import { orderDelivered, startHook, untilDelivery } from '../../support/deliveries.js';
import { sharedService } from '../../support/shared-service.js';
import { until } from '../../support/until.js';

interface Attempt {
  trigger: string;
  startedAt: string;
  errorCode: string | null;
}
interface Hour {
  hour: string;
  attempts: number;
  succeeded: number;
  failed: number;
}

const service = await sharedService('impatient');
const account = await registerAccount(service);
const { response, webhookId, receiver } = await startHook(account);
afterAll(() => receiver.close());

const post = (path: string) => account.call(path, { method: 'POST' });
const sendTest = async () => (await post(`/v1/webhooks/${webhookId}/test`)).data.deliveryId as string;
const redeliver = async (deliveryId: string, attemptCount: number) => {
  await post(`/v1/deliveries/${deliveryId}/redeliver`);
  await untilDelivery(account, deliveryId, ({ attempts }) => attempts.length === attemptCount);
};
const idsOf = async (query = '') => {
  const { data } = await account.call(`/v1/deliveries?webhookId=${webhookId}&limit=250${query}`);
  return (data.deliveries as { deliveryId: string }[]).map(({ deliveryId }) => deliveryId);
};
/** The attempts that the hours count: all but tests. */
const attemptsOf = async (deliveryId: string) => {
  const { data } = await account.call(`/v1/deliveries/${deliveryId}`);
  return (data.attempts as Attempt[]).filter(({ trigger }) => trigger !== 'TEST');
};
const isFailed = ({ errorCode }: Attempt) => errorCode !== null;

const first = await orderDelivered(account, webhookId);
await untilDelivery(account, first, ({ status }) => status === 'SUCCEEDED');
response.status = 500;
const failed = await orderDelivered(account, webhookId);
await untilDelivery(account, failed, ({ status }) => status === 'FAILED');
const tested = [await sendTest(), await sendTest()];
await redeliver(tested[1]!, 2);
const middle = Date.now() + 1;
await until('it has passed', () => Date.now() > middle);
response.status = 200;
await redeliver(failed, (await attemptsOf(failed)).length + 1);
const { data } = await account.call(`/v1/webhooks/${webhookId}/stats`);
const hours = data.hours as Hour[];
const sum = (field: 'attempts' | 'succeeded' | 'failed') =>
  hours.reduce((total, hour) => total + hour[field], 0);
const end = Date.parse(hours.at(-1)!.hour) + 3_600_000;
const span = `attemptedFrom=${Date.parse(hours[0]!.hour)}&attemptedTo=${end}`;
const isLate = ({ startedAt }: Attempt) => Date.parse(startedAt) >= middle;

test.each<[string, string, (attempt: Attempt) => boolean, number, number]>([
  ['all', span, () => true, 3, sum('attempts')],
  ['those that failed', `${span}&attemptFailed=true`, isFailed, 2, sum('failed')],
  ['those that succeeded', `${span}&attemptFailed=false`, (one) => !isFailed(one), 2, sum('succeeded')],
  ['those that failed at any time', 'attemptFailed=true', isFailed, 2, sum('failed')],
  ['those of a span', `attemptedFrom=${middle}`, isLate, 1, 1],
  [
    'a success in a span, after failures',
    `attemptedFrom=${middle}&attemptFailed=true`,
    (one) => isLate(one) && isFailed(one),
    0,
    0,
  ],
])(
  'the log lists exactly the deliveries of the attempts counted: %s',
  async (_, query, counts, deliveries, attempts) => {
    const all = await idsOf();
    expect(all).toEqual(expect.arrayContaining(tested));
    const found = await Promise.all(
      all.map(async (id) => ({ id, count: (await attemptsOf(id)).filter(counts).length })),
    );
    const theirs = found.filter(({ count }) => count > 0).map(({ id }) => id);
    expect(theirs).toHaveLength(deliveries);
    expect(found.reduce((total, { count }) => total + count, 0)).toBe(attempts);
    expect(await idsOf(`&${query}`)).toEqual(theirs);
  },
);
