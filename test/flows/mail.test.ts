import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { figureOf, operator, registerAccount, request, type Account } from '../support/client.js';
import { orderDelivered, startHook } from '../support/deliveries.js';
import { crashTraces } from '../support/deployment.js';
import { startProcess, startServiceToBreak, type Service } from '../support/harness.js';
import { passwordOfServer, refusal, startMailServer, type MailServer } from '../support/mail/server.js';
import { until } from '../support/until.js';

let mails: MailServer;
let service: Service;
/** Those who were mailed; the log names none of them. */
const addresses = new Set<string>();
let people = 0;

beforeAll(async () => {
  mails = await startMailServer();
  service = await startServiceToBreak({
    SMTP_URL: mails.url,
    MAIL_FROM: 'Parcelhook <parcelhook@mail.example>',
    TIME_SCALE: '0.1',
    TRUST_PROXY: 'loopback',
  });
});
afterEach(() => {
  mails.onMail = mails.onRecipient = mails.onConnect = () => undefined;
});
afterAll(async () => {
  await service?.stop();
  await mails?.close();
});

/** A user who has a password and has got the first mail, of the registration. */
async function registerPerson(): Promise<Account> {
  const address = `person-${(people += 1)}@example.com`;
  addresses.add(address);
  const account = await registerAccount(service, address);
  await mails.waitFor(1, address);
  return account;
}
const anAddress = () => `10.1.${(people += 1)}.7`;
const ask = (key: string, email: string, from = anAddress()) =>
  request(`${service.url}/v1/password-link`, {
    body: { key, email },
    headers: { 'x-forwarded-for': from },
  });
const askFor = ({ accountKey, email }: Account) => ask(accountKey, email);
const owed = async () =>
  (
    await service.sql<{ count: number }>(
      'select count(*)::int as count from mails where next_try_at is not null',
    )
  )[0]!.count;
const noneIsOwed = () => until('no mail is owed', async () => (await owed()) === 0);

test('a new user gets a link, a user who forgot the password another one, each sets a password once', async () => {
  const account = await registerPerson();
  const [welcome] = await mails.waitFor(1, account.email);
  expect(welcome).toMatchObject({ from: 'parcelhook@mail.example', subject: 'Your Parcelhook account' });
  const response = await ask(account.accountKey, ` ${account.email.toUpperCase()} `);
  expect([response.httpStatus, response.data]).toEqual([202, {}]);
  const [, mail] = await mails.waitFor(2, account.email);
  expect(mail!.subject).toBe('Set a new Parcelhook password');
  expect(mail!.raw).toMatch(/^Message-ID: <[\da-f-]+@mail\.example>\r$/m);
  expect(mail!.raw).toMatch(/^Auto-Submitted: auto-generated\r$/m);
  expect(mail!.html).toContain(`<a href="${mail!.link}">Set the password</a>`);
  expect(mail!.link).not.toBe(welcome!.link);
  const set = (link: string) =>
    request(link.split('?')[0]!, {
      body: { token: new URL(link).searchParams.get('token'), password: 'a new long password' },
    });
  expect((await set(mail!.link)).httpStatus).toBe(200);
  expect((await set(mail!.link)).httpStatus).toBe(404);
  expect((await set(welcome!.link)).httpStatus).toBe(404);
  await noneIsOwed();
  const { data } = await operator(
    service,
    `/audit?shipperId=${account.shipperId}&action=PASSWORD_LINK_CREATED`,
  );
  expect(data.entries).toMatchObject([{ actor: { kind: 'UNKNOWN' }, userId: account.userId }]);
});

test('the response is the same for an unknown user, account and address without sendable mail, and nothing is kept', async () => {
  const account = await registerPerson();
  const other = await registerPerson();
  const before = mails.received.length;
  const known = await askFor(account);
  const unknown = await Promise.all([
    ask(account.accountKey, 'nobody@example.com'),
    ask('ak_nobody', account.email),
    ask(other.accountKey, account.email),
  ]);
  for (const { httpStatus, body, headers } of unknown) {
    expect(httpStatus).toBe(known.httpStatus);
    expect({ ...body, timestamp: 0 }).toEqual({ ...known.body, timestamp: 0 });
    expect([...headers.keys()]).toEqual([...known.headers.keys()]);
  }
  await mails.waitFor(2, account.email);
  await noneIsOwed();
  expect(mails.received).toHaveLength(before + 1);
  const rows = await service.sql<{ row: string }>('select m::text as row from mails m');
  expect(rows.map(({ row }) => row).join()).not.toContain('@');
});

test('a user gets three mails an hour and an address has twenty requests, silently', async () => {
  const account = await registerPerson();
  for (let times = 0; times < 5; times += 1) expect((await askFor(account)).httpStatus).toBe(202);
  await noneIsOwed();
  expect(mails.received.filter(({ to }) => to.includes(account.email))).toHaveLength(1 + 3);
  const from = anAddress();
  for (let times = 0; times < 20; times += 1)
    expect((await ask('ak_nobody', 'nobody@example.com', from)).httpStatus).toBe(202);
  const other = await registerPerson();
  expect((await ask(other.accountKey, other.email, from)).httpStatus).toBe(202);
  await noneIsOwed();
  expect(mails.received.filter(({ to }) => to.includes(other.email))).toHaveLength(1);
});

test('what is no request is refused with every wrong field', async () => {
  const { httpStatus, body } = await ask('', 'nobody');
  expect([httpStatus, body.error.details?.map(({ path }) => path)]).toEqual([400, ['key', 'email']]);
});

test('a mail that the server refuses for good ends, one that it refuses for now is tried again', async () => {
  const account = await registerPerson();
  const refused = await figureOf(service, 'mails_total{outcome="refused"}');
  let tries = 0;
  mails.onRecipient = (address) => {
    tries += 1;
    throw refusal(550, `no mailbox ${address}`);
  };
  await askFor(account);
  await until('it is refused', async () => tries === 1 && (await owed()) === 0);
  expect(await figureOf(service, 'mails_total{outcome="refused"}')).toBe(refused + 1);
  mails.onRecipient = (address) => {
    tries += 1;
    if (tries < 4) throw refusal(450, `${address} is busy`);
  };
  await askFor(account);
  await mails.waitFor(2, account.email);
  expect(tries).toBe(4);
});

test('while the mail server is gone the mail is owed, and shown as such; when it is back, it arrives once', async () => {
  const account = await registerPerson();
  await noneIsOwed();
  const { port } = mails;
  await mails.close();
  await askFor(account);
  await until(
    'it was tried',
    async () => (await service.sql('select from mails where attempts > 1')).length === 1,
  );
  await until('its age is shown', async () => (await figureOf(service, 'mail_oldest_owed_seconds')) > 0);
  mails = await startMailServer(port);
  await mails.waitFor(1, account.email);
  await noneIsOwed();
  expect(mails.received).toHaveLength(1);
});

test('a mail server that hangs delays no notification, and the mail arrives when it no longer does', async () => {
  const account = await registerPerson();
  let release!: () => void;
  const released = new Promise<void>((resolve) => (release = resolve));
  let connected = 0;
  mails.onConnect = () => {
    connected += 1;
    return released;
  };
  await askFor(account);
  await until('it hangs', () => connected > 0);
  const hook = await startHook(account);
  await orderDelivered(account, hook.webhookId);
  expect(await owed()).toBe(1);
  await hook.receiver.close();
  release();
  await mails.waitFor(2, account.email);
});

test('a process killed between the sending and the noting sends the mail again, with the same Message-ID', async () => {
  const account = await registerPerson();
  const { pid, kill } = service.process;
  mails.onMail = async () => {
    mails.onMail = () => undefined;
    kill('SIGKILL');
    await until('it has ended', () => !isAlive(pid));
  };
  await askFor(account);
  await until('it was killed', () => !isAlive(pid));
  const killed = service.process;
  service.process = await startProcess({ ...service.env, PORT: new URL(service.url).port });
  await service.sql('update mails set next_try_at = now() where next_try_at is not null'); // the lease of the dead is over
  const [, first, second] = await mails.waitFor(3, account.email);
  expect(second!.messageId).toBe(first!.messageId);
  expect((await request(second!.link)).httpStatus).toBe(200);
  await noneIsOwed();
  for (const output of [killed.output(), service.process.output()]) expectNothingPersonal(output);
});

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** The log has what was done, but neither an address nor a link, not even as the mail server repeats it. */
function expectNothingPersonal(output: string): void {
  const tokens = mails.received.map(({ link }) => new URL(link).searchParams.get('token')!);
  for (const text of [
    ...addresses,
    ...tokens,
    'person-',
    '/set-password?token',
    'busy',
    'no mailbox',
    passwordOfServer,
  ])
    expect({ text, found: output.includes(text) }).toEqual({ text, found: false });
  expect(crashTraces(output)).toEqual([]);
}
