import { describe, expect, test } from '@jest/globals';
import { operator, placeOrder, registerAccount, type ApiResponse } from '../../support/client.js';
import { sharedService } from '../../support/shared-service.js';
import { expectFailure, expectSuccess, expectWrong, untilState, uuidForm } from '../../support/expect.js';

let counter = 0;

const service = await sharedService();
const account = await registerAccount(service);

const uniqueId = () => `evt-${(counter += 1)}`;
const one = (trackingId: string, body: object) =>
  operator(service, `/shipments/${trackingId}/events`, { body });
const bulk = (events: unknown[]) => operator(service, '/events', { body: { events } });
const track = async (trackingId: string) => (await account.call(`/v1/shipment-tracking/${trackingId}`)).data;
const statesOf = async (trackingId: string) =>
  (await track(trackingId)).history.map(({ state }: { state: string }) => state) as string[];
async function created(count = 1): Promise<string[]> {
  const trackingIds = await Promise.all(Array.from({ length: count }, () => placeOrder(account)));
  for (const trackingId of trackingIds) await untilState(account, trackingId, 'CREATED');
  return trackingIds;
}

describe('one event', () => {
  test('returns 202 with its id and changes the state of the shipment', async () => {
    const [trackingId] = await created();
    const response = await one(trackingId!, { state: 'PICKED_UP' });
    expectSuccess(response, 202);
    expect(response.data).toEqual({ eventId: expect.stringMatching(uuidForm) });
    expect(await statesOf(trackingId!)).toEqual(['CREATED', 'PICKED_UP']);
  });

  test.each<[string[]]>([
    [['PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERY_FAILED', 'OUT_FOR_DELIVERY', 'DELIVERED']],
    [['CANCELLED']],
  ])('the states %j are allowed', async (states) => {
    const [trackingId] = await created();
    for (const state of states) expectSuccess(await one(trackingId!, { state }), 202);
    expect(await statesOf(trackingId!)).toEqual(['CREATED', ...states]);
  });

  test.each<[string[], string, string]>([
    [
      ['PICKED_UP'],
      'DELIVERED',
      'A shipment cannot change from PICKED_UP to DELIVERED; allowed: IN_TRANSIT, RETURNING, CANCELLED, LOST.',
    ],
    [['LOST'], 'PICKED_UP', 'A shipment cannot change from LOST to PICKED_UP; nothing follows LOST.'],
  ])(
    'after %j a change to %s is 409 with the allowed states, also in a batch, and changes nothing',
    async (states, to, message) => {
      const [trackingId] = await created();
      for (const state of states) await one(trackingId!, { state });
      const before = await track(trackingId!);
      const refused = await one(trackingId!, { state: to, eventId: uniqueId() });
      expectFailure(refused, 409);
      expect(refused.body.error.message).toBe(message);
      const { data } = await bulk([{ trackingId, state: to }]);
      expect(data.results).toEqual([{ error: { status: 'CONFLICT', message } }]);
      expect(await track(trackingId!)).toEqual(before);
    },
  );

  test('a repeated eventId gets the same response and changes nothing', async () => {
    const [trackingId, another] = await created(2);
    const body = { state: 'PICKED_UP', eventId: uniqueId() };
    const first = await one(trackingId!, body);
    expectSuccess(first, 202);
    expect(first.data).toEqual({ eventId: body.eventId });
    await one(trackingId!, { state: 'IN_TRANSIT' });
    const again = await one(trackingId!, body);
    expectSuccess(again, 202);
    expect(again.data).toEqual(first.data);
    expect(await statesOf(trackingId!)).toEqual(['CREATED', 'PICKED_UP', 'IN_TRANSIT']);
    expectFailure(await one(another!, body), 409);
    expectFailure(await one(trackingId!, { ...body, state: 'LOST' }), 409);
    expect(await statesOf(another!)).toEqual(['CREATED']);
  });

  test('twenty concurrent requests with one eventId record one event', async () => {
    const [trackingId] = await created();
    const body = { state: 'PICKED_UP', eventId: uniqueId() };
    const responses = await Promise.all([
      ...Array.from({ length: 15 }, () => one(trackingId!, body)),
      ...Array.from({ length: 5 }, () => bulk([{ trackingId, ...body }])),
    ]);
    for (const response of responses) expectSuccess(response, 202);
    expect(responses.at(-1)!.data.results).toEqual([{ eventId: body.eventId }]);
    expect(await statesOf(trackingId!)).toEqual(['CREATED', 'PICKED_UP']);
  });

  test('one of several concurrent contradicting events wins, the others get 409', async () => {
    const [trackingId] = await created();
    await one(trackingId!, { state: 'PICKED_UP' });
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => bulk([{ trackingId, state: 'CANCELLED' }])),
    );
    const won = responses.filter(({ data }) => data.results[0].eventId);
    expect(won).toHaveLength(1);
    expect(await statesOf(trackingId!)).toEqual(['CREATED', 'PICKED_UP', 'CANCELLED']);
  });

  test.each<[object, string[]]>([
    [{}, ['state']],
    [{ state: 'FLYING' }, ['state']],
    [{ state: 'picked_up' }, ['state']],
    [{ state: null }, ['state']],
    [
      {
        state: 1,
        eventId: '',
        timestamp: 1.5,
        lat: '1',
        lng: 181,
        evidences: {},
      },
      ['state', 'eventId', 'timestamp', 'lat', 'lng', 'evidences'],
    ],
    [{ state: 'PICKED_UP', eventId: 'x'.repeat(256) }, ['eventId']],
    [{ state: 'PICKED_UP', eventId: 'a\r\nb' }, ['eventId']],
    [{ state: 'PICKED_UP', timestamp: '2026-11-21T12:00:00Z' }, ['timestamp']],
    [{ state: 'PICKED_UP', timestamp: -1 }, ['timestamp']],
    [{ state: 'PICKED_UP', timestamp: 2 ** 53 }, ['timestamp']],
    [{ state: 'PICKED_UP', evidences: null }, ['evidences']],
  ])('%j returns 400 naming every wrong field and changes nothing', async (body, paths) => {
    const [trackingId] = await created();
    expectWrong(await one(trackingId!, body), paths);
    expect(await statesOf(trackingId!)).toEqual(['CREATED']);
  });

  test('an unknown tracking id returns 404', async () => {
    for (const id of ['PH1', 'x'.repeat(1_000), '%00', '%F0%9F%9A%9A'])
      expectFailure(await one(id, { state: 'PICKED_UP' }), 404);
  });
});

describe('many events', () => {
  const stateOfError = ({ error }: { error?: { status: string } }) => error?.status ?? 'recorded';
  const outcomes = (response: ApiResponse) => (response.data.results as object[]).map(stateOfError);

  test('each gets its own result, in the order sent; refused events do not affect the others', async () => {
    const [first, second] = await created(2);
    const response = await bulk([
      { trackingId: first, state: 'PICKED_UP', eventId: uniqueId() },
      { trackingId: 'PH1', state: 'PICKED_UP' },
      { trackingId: first, state: 'FLYING', eventId: 7 },
      { trackingId: second, state: 'DELIVERED' },
      'no object',
      { state: 'PICKED_UP' },
      { trackingId: second, state: 'PICKED_UP' },
    ]);
    expectSuccess(response, 202);
    expect(outcomes(response)).toEqual(
      'recorded NOT_FOUND INVALID_REQUEST CONFLICT INVALID_REQUEST INVALID_REQUEST recorded'.split(' '),
    );
    const [recorded, missing, wrong] = response.data.results;
    expect(recorded).toEqual({ eventId: `evt-${counter}` });
    expect(missing).toEqual({ error: { status: 'NOT_FOUND', message: expect.any(String) } });
    expect(wrong.error.details.map(({ path }: { path: string }) => path).sort()).toEqual([
      'eventId',
      'state',
    ]);
    expect(await statesOf(first!)).toEqual(['CREATED', 'PICKED_UP']);
    expect(await statesOf(second!)).toEqual(['CREATED', 'PICKED_UP']);
  });

  test('a value that cannot be stored refuses its own event, and names the field', async () => {
    const [trackingId] = await created();
    const event = (value: string) => `{"trackingId":"${trackingId}","state":"PICKED_UP",${value}}`;
    const response = await operator(service, '/events', {
      raw: `{"events":[${[
        event('"evidences":[9007199254740993]'),
        event('"anomalies":{"constructor":1}'),
        event('"evidences":["\\ud800"],"lat":91'),
        event('"anomalies":1e999'),
        '"\\u0000"',
        event('"lat":1'),
      ].join()}]}`,
    });
    expectSuccess(response, 202);
    const results = response.data.results as { error?: { details: { path: string }[] } }[];
    expect(results.map(({ error }) => error?.details.map(({ path }) => path) ?? 'recorded')).toEqual([
      ['evidences[0]'],
      ['anomalies.constructor'],
      ['evidences[0]', 'lat'],
      ['anomalies'],
      ['body'],
      'recorded',
    ]);
    expect(await statesOf(trackingId!)).toEqual(['CREATED', 'PICKED_UP']);
  });

  test('however much of an event or of many events cannot be stored, the others are recorded', async () => {
    const [trackingId] = await created();
    const event = (value: string) => `{"trackingId":"${trackingId}","state":"PICKED_UP",${value}}`;
    for (const wrong of [
      [event(`"evidences":[${Array(2_000).fill('"\\ud800"').join()}]`)],
      Array<string>(999).fill(event('"anomalies":{"a":1e999,"constructor":1}')),
    ]) {
      const eventId = uniqueId();
      const response = await operator(service, '/events', {
        raw: `{"events":[${[...wrong, event(`"eventId":"${eventId}"`)].join()}]}`,
      });
      expectSuccess(response, 202);
      expect(outcomes(response).filter((outcome) => outcome === 'INVALID_REQUEST')).toHaveLength(
        wrong.length,
      );
      expect(response.data.results.at(-1)).not.toMatchObject({ error: { status: 'INVALID_REQUEST' } });
    }
    expect(await statesOf(trackingId!)).toEqual(['CREATED', 'PICKED_UP']);
  });

  test.each([
    ['"extra":1e999', ['extra']],
    ['"events[":1e999', ['events[']],
    ['"constructor":{}', ['constructor']],
    ['"extra":{"constructor":{}}', ['extra.constructor']],
  ])('%s beside the list of events is 400, and nothing is recorded', async (beside, paths) => {
    const [trackingId] = await created();
    const event = `{"trackingId":"${trackingId}","state":"PICKED_UP"}`;
    const wrong = Array(999).fill('{"anomalies":{"a":1e999,"constructor":1}}').join();
    for (const events of [event, `${wrong},${event}`])
      expectWrong(await operator(service, '/events', { raw: `{"events":[${events}],${beside}}` }), paths);
    expect(await statesOf(trackingId!)).toEqual(['CREATED']);
  });

  test('texts of many digits, such as ids, do not count as numbers, however many there are', async () => {
    const [trackingId] = await created(1);
    const scan = (index: number) => ({
      trackingId,
      state: 'PICKED_UP',
      eventId: `${uniqueId()}-7e5-4c01-9b3e-00${index}`,
      evidences: ['003123456789012345', '5e8f90a1-00a1-7e3f-9041'],
    });
    const response = await bulk(Array.from({ length: 1_000 }, (_, index) => scan(index)));
    expectSuccess(response, 202);
    expect(outcomes(response).slice(0, 2)).toEqual(['recorded', 'CONFLICT']);
  });

  test('several of one shipment are recorded in the order sent', async () => {
    const [a, b] = await created(2);
    const states = ['PICKED_UP', 'IN_TRANSIT', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERED'];
    const response = await bulk(
      states.flatMap((state) => [a, b].map((trackingId) => ({ trackingId, state }))),
    );
    expect(new Set(outcomes(response))).toEqual(new Set(['recorded']));
    expect(await statesOf(a!)).toEqual(['CREATED', ...states]);
    expect(await statesOf(b!)).toEqual(['CREATED', ...states]);
  });

  test('the same eventId twice in one request records one event', async () => {
    const [trackingId] = await created();
    const event = { trackingId, state: 'PICKED_UP', eventId: uniqueId() };
    const response = await bulk([event, event, { trackingId, state: 'IN_TRANSIT' }, event]);
    expect(outcomes(response)).toEqual(['recorded', 'recorded', 'recorded', 'recorded']);
    expect(await statesOf(trackingId!)).toEqual(['CREATED', 'PICKED_UP', 'IN_TRANSIT']);
  });

  test('1,000 are accepted, and recorded in order; 1,001 and none return 400 and record nothing', async () => {
    const [trackingId] = await created();
    await one(trackingId!, { state: 'PICKED_UP' });
    const events = Array.from({ length: 1_001 }, (_, timestamp) => ({
      trackingId,
      state: 'IN_TRANSIT',
      timestamp,
    }));
    expectWrong(await bulk(events), ['events']);
    expectWrong(await bulk([]), ['events']);
    expect(await statesOf(trackingId!)).toEqual(['CREATED', 'PICKED_UP']);
    const response = await bulk(events.slice(0, 1_000));
    expectSuccess(response, 202);
    expect(response.data.results).toHaveLength(1_000);
    const { history } = await track(trackingId!);
    expect(history.map(({ timestamp }: { timestamp: number }) => timestamp)).toEqual(
      events.slice(0, 1_000).map(({ timestamp }) => timestamp), // the latest 1,000 of 1,002 states
    );
  });

  test('concurrent requests over the same shipments in different orders all succeed', async () => {
    const trackingIds = await created(60);
    for (const response of [
      await bulk(trackingIds.map((trackingId) => ({ trackingId, state: 'PICKED_UP' }))),
    ])
      expect(new Set(outcomes(response))).toEqual(new Set(['recorded']));
    const events = trackingIds.map((trackingId) => ({ trackingId, state: 'IN_TRANSIT' }));
    const responses = await Promise.all(
      [events, [...events].reverse(), events, [...events].reverse()].map(bulk),
    );
    for (const response of responses) {
      expectSuccess(response, 202);
      expect(new Set(outcomes(response))).toEqual(new Set(['recorded']));
    }
    expect(await statesOf(trackingIds[0]!)).toHaveLength(6);
  });

  test.each([{}, { events: {} }, { events: null }, { events: 'x' }])('%j returns 400', async (body) => {
    expectWrong(await operator(service, '/events', { body }), ['events']);
  });
});
