/** Runs each receiver that the documents show, where its language is installed, and sends it notifications. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sign } from '../../src/engine/send/headers.js';
import { newSecret } from '../../src/engine/send/sealing.js';
import { freePort } from '../support/redis.js';
import { until } from '../support/until.js';
import { killPrograms, post, serves, startProgram, type Program } from './programs.js';
import { installPackages, recipes, removeRecipes, setUp, type Place } from './recipes.js';

const secret = newSecret();
const otherSecret = newSecret();
const body = '{"state":"PICKED_UP","label_id":"Pédido 1"}';
const toRefuse = '{"state":"REFUSED"}';

interface Notification {
  headers: Record<string, string>;
  body: string;
}
/** Signed when they are sent: the start of a program may take minutes. */
type Notifications = Record<string, () => Notification>;

interface Signing {
  secondsFromNow?: number;
  secrets?: string[];
}

function signed(text: string, { secondsFromNow = 0, secrets = [secret] }: Signing = {}): Notification {
  const at = Math.floor(Date.now() / 1_000) + secondsFromNow;
  const signature = sign(secrets, 'event-1', at, text);
  const headers = {
    'webhook-id': 'event-1',
    'webhook-timestamp': String(at),
    'webhook-signature': signature,
  };
  return { headers, body: text };
}

/** Its headers are changed after it is signed; without `to`, one is left out. */
function altered(name: 'id' | 'timestamp' | 'signature', to?: (value: string) => string): Notification {
  const { headers, body } = signed(toRefuse);
  const { [`webhook-${name}`]: value, ...others } = headers;
  return { headers: to ? { ...others, [`webhook-${name}`]: to(value!) } : others, body };
}

const accepted: Notifications = {
  'a good signature': () => signed(body),
  'the second of two, during a rotation': () => signed(body, { secrets: [otherSecret, secret] }),
  'the first of two, during a rotation': () => signed(body, { secrets: [secret, otherSecret] }),
  'a timestamp within five minutes': () => signed(body, { secondsFromNow: -200 }),
  'a timestamp ahead by less': () => signed(body, { secondsFromNow: 200 }),
};
/** A parser and a serializer would change the bytes of each. */
const otherwiseSerialized: Notifications = {
  spaces: () => signed('{ "state" : "PICKED_UP",\n  "label_id": "ORDER 1" }\n'),
  'keys that are not sorted': () => signed('{"state":"PICKED_UP","label_id":"1","anomalies":null}'),
  'characters beyond ASCII': () => signed('{"state":"PICKED_UP","label_id":"Pédido ✓ 配達 🚚"}'),
  'escaped characters': () => signed('{"state":"PICKED_UP","label_id":"P\\u00e9dido \\/ <1>"}'),
  'other forms of numbers': () => signed('{"state":"PICKED_UP","timestamp":1795262400000.0,"lat":1E1}'),
};
const refused: Notifications = {
  'another body': () => ({ ...signed(toRefuse), body: `${toRefuse} ` }),
  'another id': () => altered('id', () => 'event-2'),
  'another timestamp': () => altered('timestamp', (value) => String(Number(value) - 1)),
  'another secret': () => signed(toRefuse, { secrets: [otherSecret] }),
  'a signature cut short': () => altered('signature', (value) => value.slice(0, -4)),
  'a signature of another version': () => altered('signature', (value) => value.replace('v1', 'v2')),
  'no signature': () => altered('signature'),
  'no id': () => altered('id'),
  'an old notification': () => signed(toRefuse, { secondsFromNow: -400 }),
  'one from the future': () => signed(toRefuse, { secondsFromNow: 400 }),
  'no timestamp': () => altered('timestamp'),
  'a timestamp that is none': () => altered('timestamp', () => 'soon'),
};

await installPackages();
afterAll(() => {
  killPrograms();
  removeRecipes();
});

test('the documents have a recipe for each language and framework', () => {
  expect(recipes.map(({ name }) => name)).toEqual([
    ...['Node', 'Express', 'Fastify', 'NestJS', 'FastAPI', 'Flask', 'Django'],
    ...['Go', 'PHP', 'Ruby', 'Java', 'C#'],
  ]);
});

describe.each(recipes.filter(({ lacks }) => lacks === null))('the receiver for $name', (recipe) => {
  let port: number;
  let place: Place;
  let program: Program;

  const start = (withSecret: string) => {
    const { command, cwd, env } = place;
    return startProgram(command, { cwd, env: { ...env, WEBHOOK_SECRET: withSecret } }, () => serves(port));
  };
  const statuses = async (notifications: Notifications) => {
    const found: Record<string, number> = {};
    for (const [what, notification] of Object.entries(notifications)) {
      const { headers, body } = notification();
      found[what] = await post(port, headers, body);
    }
    return found;
  };
  const each = (notifications: Notifications, status: number) =>
    Object.fromEntries(Object.keys(notifications).map((what) => [what, status]));

  beforeAll(async () => {
    port = await freePort();
    place = setUp(recipe, port);
    program = await start(secret);
  }, 270_000);
  afterAll(() => program?.kill());

  test('responds 400 to what does not verify, and does no work on it', async () => {
    expect(await statuses(refused)).toEqual(each(refused, 400));
    expect(program.output()).not.toContain('REFUSED');
  });

  test('responds 204 to what is signed, and then works on it', async () => {
    expect(program.output()).not.toContain('PICKED_UP');
    expect(await statuses(accepted)).toEqual(each(accepted, 204));
    await until('it has worked', () => program.output().includes('PICKED_UP'));
  });

  test('verifies the bytes as they arrived', async () => {
    expect(await statuses(otherwiseSerialized)).toEqual(each(otherwiseSerialized, 204));
  });

  test('without a secret takes nothing, not even what is signed with an empty one', async () => {
    program.kill();
    await until('its port is free', async () => !(await serves(port)));
    const outcome = await start('').catch(String);
    if (typeof outcome === 'string') return expect(outcome).toContain('it has ended');
    const { headers, body } = signed(toRefuse, { secrets: ['whsec_'] });
    const status = await post(port, headers, body).catch(() => 'none');
    outcome.kill();
    expect(outcome.output()).not.toContain('REFUSED');
    expect([400, 500, 'none']).toContain(status);
  }, 270_000);
});
