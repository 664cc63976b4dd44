/** A refusal says what to do about the mistakes of callers who know another API, another language or another field. */
import { expect, test } from '@jest/globals';
import { operator, registerAccount, request, sampleOrder } from '../../support/client.js';
import { expectFailure } from '../../support/expect.js';
import { sharedService } from '../../support/shared-service.js';

const service = await sharedService();
const account = await registerAccount(service);

/** The text of each wrong field or parameter. */
async function problems(path: string, options: object = {}): Promise<Record<string, string>> {
  const response = await account.call(path, options);
  expectFailure(response, 400);
  return Object.fromEntries(response.body.error.details!.map((detail) => [detail.path, detail.message]));
}

test.each([
  ["{'a': 1}", "unexpected ' at line 1, column 2; use double quotation marks"],
  ['{a: 1}', 'unexpected a at line 1, column 2; put the name in double quotation marks'],
  ['{"a": None}', 'unexpected N at line 1, column 7; write null'],
  ['{"a": -Infinity}', 'unexpected - at line 1, column 7; write null'],
  ['{"a": True}', 'unexpected T at line 1, column 7; write true'],
  ['{"a": NULL}', 'unexpected N at line 1, column 7; write null'],
  ['{"a": 2026-11-21}', 'unexpected - at line 1, column 11; put a string in double quotation marks'],
  ['{"a": 12:30}', 'unexpected : at line 1, column 9; put a string in double quotation marks'],
  ['{"a": "b"; "c": 1}', 'unexpected ; at line 1, column 10; a comma or } is missing before it'],
  ['{"a": 1, ...b}', 'unexpected . at line 1, column 10'],
  ['{"a": 1,\n}', 'unexpected } at line 2, column 1; leave out the comma before it'],
  ['{"a": [1, ]}', 'unexpected ] at line 1, column 11; leave out the comma before it'],
  ['{"a": 1 // one\n}', 'unexpected / at line 1, column 9; JSON has no comments'],
  ['{"a": 1}}', 'unexpected } at line 1, column 9; the JSON ended before it'],
  ['{"a": 1', 'unexpected end at line 1, column 8; } is missing before it'],
  ['{"a": 1\n "b": 2}', 'unexpected " at line 2, column 2; a comma or } is missing before it'],
  ['{"a": [1 2]}', 'unexpected 2 at line 1, column 10; a comma or ] is missing before it'],
  ['{"a": [1}', 'unexpected } at line 1, column 9; ] is missing before it'],
  ['{"a" 1}', 'unexpected 1 at line 1, column 6; a colon is missing before it'],
  ['{"a" "b"}', 'unexpected " at line 1, column 6; a colon is missing before it'],
  ['{"a": }', 'unexpected } at line 1, column 7; a value is missing before it'],
  ['{"a": 1,, "b": 2}', 'unexpected , at line 1, column 9; a name is missing before it'],
  ['{"a": 1,', 'unexpected end at line 1, column 9; a name is missing before it'],
  ['{1: 2}', 'unexpected 1 at line 1, column 2; put the name in double quotation marks'],
  ['{"a": box}', 'unexpected b at line 1, column 7; put a string in double quotation marks'],
  ['{"a": NaN}', 'unexpected N at line 1, column 7; write null'],
  ['{“a”: 1}', 'unexpected character at line 1, column 2; use straight quotation marks: "'],
  ['{"a": 01}', 'unexpected 1 at line 1, column 8; write numbers as 12, 0.5 or -1e3'],
  ['{"a": .5}', 'unexpected . at line 1, column 7; write numbers as 12, 0.5 or -1e3'],
  ['{"a": "1" box"}', 'unexpected b at line 1, column 11; a comma or } is missing before it'],
  ['{"a": "a "big" box"}', 'unexpected b at line 1, column 11; write a quotation mark in a string as \\"'],
  ['{"a": "C:\\dir"}', 'unexpected \\ at line 1, column 10; write a backslash in a string as \\\\'],
  [
    '{"a": "box}',
    'unexpected end at line 1, column 12; a quotation mark is missing at the end of the last string',
  ],
  [
    '{"a": "box,\n"b": 1}',
    'unexpected line break at line 1, column 12; end the string with a quotation mark before it, or write a line break in it as \\n',
  ],
  [
    '{"a": "one\ttwo"}',
    'unexpected character at line 1, column 11; write a control character in a string as an escape, such as \\t',
  ],
])('%j, which is almost JSON, is corrected', async (raw, message) => {
  expect(await problems('/v1/webhooks', { raw })).toMatchObject({ body: `must be valid JSON: ${message}` });
});

test('a number sent as a text, or a text as a number, is refused with a hint about quotation marks', async () => {
  const body = { interests: ['*'], targetAddress: 'https://example.org/hook' };
  expect(await problems('/v1/webhooks', { body: { ...body, supersede: 'true', description: 7 } })).toEqual({
    supersede: 'must be true or false; leave out the quotation marks',
    description: 'must be a string; put it in quotation marks',
  });
  const event = { state: 'LOST', lat: '19.4', lng: 'west' };
  const recorded = await operator(service, '/shipments/PH1/events', { body: event });
  expect(recorded.body.error.details).toEqual([
    { path: 'lat', message: 'must be a number; leave out the quotation marks' },
    { path: 'lng', message: 'must be a number' },
  ]);
  expect(await problems('/v1/webhooks', { body: { ...body, supersede: 'yes' } })).toEqual({
    supersede: 'must be true or false',
  });
});

test.each([
  ['state=FAILED', 'state', 'must be a state; FAILED is a status: use status=FAILED'],
  ['status=DELIVERED', 'status', 'must be a status; DELIVERED is a state: use state=DELIVERED'],
  [
    'status=RETRYING',
    'status',
    'must be a status; a delivery that is retried is PENDING: use status=PENDING',
  ],
  ['statusCode=TIMEOUT', 'statusCode', 'must be an HTTP status; TIMEOUT is an error: use errorCode=TIMEOUT'],
  ['errorCode=500', 'errorCode', 'must be an error; 500 is an HTTP status: use statusCode=500'],
  ['statusCode=600', 'statusCode', 'must be an HTTP status: a whole number from 100 to 599'],
])('deliveries?%s names the filter that was meant', async (query, path, message) => {
  expect(await problems(`/v1/deliveries?${query}`)).toEqual({ [path]: message });
});

test('a parameter that is not known is named with the nearest one', async () => {
  const all = 'key, limit, cursor, shipperTrackingId, shipperTrackingIdPrefix, state, from, to';
  const start = `is not a parameter of this endpoint; it takes ${all}`;
  expect(await problems('/v1/shipments?status=CREATED&colour=red')).toEqual({
    status: `${start}; did you mean state?`,
    colour: start,
  });
});

test.each([
  ['POST', '/shipments', 405, 'The API is under /v1: POST /v1/shipments.'],
  ['DELETE', '/webhooks/x', 405, 'The API is under /v1; see /docs.'],
  ['POST', '/', 405, 'The API is under /v1; see /docs.'],
  ['POST', '/api/v1/shipments', 404, 'This endpoint was not found. Did you mean /v1/shipments? See /docs.'],
  ['GET', '/api/webhooks', 404, 'This endpoint was not found. Did you mean /v1/webhooks? See /docs.'],
  ['POST', '/v1/orders', 404, 'This endpoint was not found. Did you mean /v1/shipments? See /docs.'],
  [
    'GET',
    '/v1/tracking/PH1',
    404,
    'This endpoint was not found. Did you mean /v1/shipment-tracking/{trackingId}? See /docs.',
  ],
])('the refusal of %s %s leads to the right endpoint', async (method, path, code, message) => {
  const response = await request(`${service.url}${path}`, { method });
  expectFailure(response, code);
  expect(response.body.error.message).toBe(message);
});

test('a log-in by POST, a place of the API without /v1, and an account key as a token say what to do', async () => {
  const { accountKey } = account;
  const login = await account.call('/v1/login', { method: 'POST' });
  expectFailure(login, 405);
  expect(login.body.error.message).toBe('Log in with GET and Basic e-mail:password.');
  const elsewhere = await account.call('/shipments', { body: sampleOrder() });
  expectFailure(elsewhere, 405);
  expect(elsewhere.body.error.message).toBe('The API is under /v1: POST /v1/shipments.');
  const headers = { authorization: `Bearer ${accountKey}` };
  const key = await request(`${service.url}/v1/webhooks?key=${accountKey}`, { headers });
  expectFailure(key, 401);
  expect(key.body.error.message).toBe('That is the account key; send the token from /v1/login.');
  const messageOf = async (keyGiven: string, token: string) => {
    const response = await request(`${service.url}/v1/webhooks?key=${keyGiven}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expectFailure(response, 401);
    return response.body.error.message;
  };
  expect(await messageOf(accountKey, 'whsec_AAAA')).toBe(
    "That is a webhook's secret; send the token from /v1/login.",
  );
  expect(await messageOf('phk_AAAA', 'eyJ.eyJ.x')).toMatch(
    /^The query parameter `key` is a token; send that/,
  );
});
