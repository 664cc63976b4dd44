/** Servers that refuse what `listen` forwards from the real service, and what it says of the cause. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { verify } from '../../src/client/index.js';
import { newSecret } from '../../src/engine/send/sealing.js';
import { credentials, runListen, startListener, type Listener } from './listener.js';
import { placeOrder, registerAccount, type Account } from '../support/client.js';
import { startReceiver, type Received, type Receiver } from '../support/receiver.js';
import { sharedService, type SharedService } from '../support/shared-service.js';
import { until } from '../support/until.js';

let service: SharedService;
let account: Account;
const listeners: Listener[] = [];
const receivers: Receiver[] = [];
const secret = newSecret();
const lastFour = secret.slice(-4);

beforeAll(async () => {
  service = await sharedService();
  account = await registerAccount(service);
  await Promise.all([placeOrder(account), placeOrder(account)]);
  await until('both orders are in the feed', async () => {
    const { data } = await account.call('/v1/events?from=1970-01-01');
    return data.events.length === 2;
  });
});
afterAll(async () => {
  await Promise.all(listeners.map((listener) => listener.end('SIGKILL')));
  await Promise.all(receivers.map((receiver) => receiver.close()));
});

async function startLocal(reply: Receiver['reply']): Promise<string> {
  const local = await startReceiver(reply);
  receivers.push(local);
  return local.url;
}

/** A server as people write them: 400 with the reason unless it verifies. */
const verifying =
  (own: string, { read = ({ body }: Received) => body, aheadSeconds = 0 } = {}): Receiver['reply'] =>
  (request) => {
    const now = new Date(Date.now() + aheadSeconds * 1_000);
    const headers = { date: now.toUTCString() };
    try {
      verify(request.headers, read(request), own, { now });
      return { status: 204, headers };
    } catch (error) {
      return { status: 400, headers, body: `${(error as Error).message}\n` };
    }
  };

/** The lines about the two events. */
async function linesOf(reply: Receiver['reply'], args: string[] = []) {
  const local = await startLocal(reply);
  const listener = await startListener(service.url, account, local, ['--since', '10m', ...args]);
  listeners.push(listener);
  await until('both are printed', () => listener.lines('notification').length === 2);
  return listener.lines('notification');
}

async function textOf(reply: Receiver['reply'], env: Record<string, string> = {}) {
  const args = ['--forward', await startLocal(reply), '--since', '10m'];
  const listener = runListen(args, { ...credentials(service.url, account), ...env });
  listeners.push(listener);
  await until('both are printed', () => listener.output().split('  CREATED  ').length === 3);
  expect(await listener.end()).toMatchObject({ code: 0 });
  return listener.output();
}

const parsedAndWritten = ({ body }: Received) => JSON.stringify(JSON.parse(body), null, 2);

test('a server with another secret is told of the one to verify with, once', async () => {
  const output = await textOf(verifying(newSecret()));
  const own = /^Signing with (whsec_\S+)$/m.exec(output)![1]!;
  expect(output).toMatch(/  400 Bad Request  \d+ ms  rejected: no signature matches: wrong secret/);
  expect(output.match(/^Your server refused it with 400\. .*$/gm)).toEqual([
    expect.stringContaining(`the secret that listen made (whsec_…${own.slice(-4)}, shown at the start)`),
  ]);
  expect(output).toContain('--secret or WEBHOOK_SECRET');
});

test('a server that writes the body again is told that the notification verifies, and where to read on', async () => {
  const lines = await linesOf(verifying(secret, { read: parsedAndWritten }), ['--secret', secret]);
  for (const { diagnosis } of lines) {
    expect(diagnosis).toEqual({
      cause: 'VERIFIES',
      message: expect.stringContaining(
        `verifies with the secret that you gave (whsec_…${lastFour}), and the clocks agree. If your server refuses the signature, it probably parses the body`,
      ),
    });
    const docs = /http\S+$/.exec(diagnosis.message)![0];
    expect((await fetch(docs)).status).toBe(200);
  }
});

test('a secret in quotation marks, as the server has it, is named; a server that removes them accepts', async () => {
  const quoted = `"${secret}"`;
  const [refused] = await linesOf(verifying(quoted), ['--secret', quoted]);
  expect(refused!.diagnosis).toEqual({
    cause: 'SECRET_MALFORMED',
    message: expect.stringMatching(
      /^Your server refused it with 400\. About --secret or WEBHOOK_SECRET: The secret has quotation marks around it: remove them\. .* The notification verifies with the secret that you gave/,
    ),
  });
  const [accepted] = await linesOf(verifying(secret), ['--secret', quoted]);
  expect(accepted).toMatchObject({ ok: true, diagnosis: null, responseText: null });
});

test.each([
  [400, 'ahead'],
  [-400, 'behind'],
])(
  "a server's clock that is off by %i s is named by the Date of its response",
  async (aheadSeconds, side) => {
    const [line] = await linesOf(verifying(secret, { aheadSeconds }), ['--secret', secret]);
    expect(line!.diagnosis).toEqual({
      cause: 'CLOCK_OFF',
      message: expect.stringMatching(`its clock is (399|400|401) s ${side}. Set that clock`),
    });
  },
);

test('a login in front of the server is named as a possibility, and a page of HTML is not printed', async () => {
  const [line] = await linesOf(() => ({
    status: 401,
    headers: { 'www-authenticate': 'Basic realm="staging"' },
    body: '<html>Log in</html>',
  }));
  expect(line).toMatchObject({
    diagnosis: {
      cause: 'LOGIN_REQUIRED',
      message: expect.stringMatching(
        /may not have looked at the signature: .* The notification verifies with the secret that listen made/,
      ),
    },
    responseText: null,
  });
});

test.each([
  [401, 'Signature realm="hooks"', 0, 'VERIFIES'], // RFC 9110 demands a challenge of every 401
  [401, 'Basic', 400, 'CLOCK_OFF'],
  [403, 'Basic', 0, 'VERIFIES'],
])('no login is named after %i with %s and a clock %i s ahead', async (status, challenge, seconds, cause) => {
  const date = () => new Date(Date.now() + seconds * 1_000).toUTCString();
  const reply = () => ({ status, headers: { 'www-authenticate': challenge, date: date() } });
  const [line] = await linesOf(reply, ['--secret', secret]);
  expect(line!.diagnosis).toMatchObject({ cause });
});

test('a server that fails otherwise gets no diagnosis, but its words are printed, without control characters', async () => {
  const statuses = [500, 404];
  const lines = await linesOf(() => ({ status: statuses.shift()!, body: 'database\n \u001b[2J away' }));
  for (const line of lines)
    expect(line).toMatchObject({ responseText: 'database [2J away', diagnosis: null });
});

test('a secret that was given is never printed, not even in what the server says', async () => {
  const reply: Receiver['reply'] = () => ({ status: 403, body: `expected ${secret.slice(6)} or ${secret}` });
  const output = await textOf(reply, { WEBHOOK_SECRET: secret });
  expect(output).toContain(`Signing with the secret that you gave, whsec_…${lastFour}\n`);
  expect(output).toContain('rejected: expected … or whsec_…\n');
  expect(output).toMatch(/^Your server refused it with 403\. The notification verifies/m);
  expect(output).not.toContain(secret.slice(6, 20));
  const local = await startLocal(() => ({
    status: 403,
    body: JSON.stringify({ secret }).replaceAll('/', '\\/'),
  }));
  const listener = await startListener(service.url, account, local, ['--since', '10m', '--secret', secret]);
  listeners.push(listener);
  await until('both are printed', () => listener.lines('notification').length === 2);
  expect(listener.lines('listening')[0]).toMatchObject({ secret: `whsec_…${lastFour}` });
  for (const line of listener.lines('notification')) expect(line.responseText).toBe('{"secret":"whsec_…"}');
  expect(listener.output()).not.toContain(secret.slice(6, 14));
});

test.each([
  ['whsec_…', 'The secret is a placeholder or masked'],
  ['phk_abc', 'The secret is an API token'],
  [secret.slice(6), 'give whsec_ and the Base64 of 24 to 64 bytes'],
  [secret.slice(0, 30), 'The secret is shorter than any'],
  [`whsec_${Buffer.alloc(65).toString('base64')}`, 'give whsec_ and the Base64 of 24 to 64 bytes'],
  ['', 'The secret is empty'],
])('a secret that nothing can be signed with is refused at the start: %s', async (given, says) => {
  const listener = runListen(
    ['--forward', 'http://127.0.0.1:9', '--secret', given],
    credentials(service.url, account),
  );
  expect(await listener.exited).toBe(2);
  expect(listener.errors()).toContain(says);
  if (given !== '') expect(listener.errors()).not.toContain(given.slice(0, 20));
});
