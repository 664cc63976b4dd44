import { EventEmitter, once } from 'node:events';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  from: string;
  to: string[];
  messageId: string;
  subject: string;
  /** Headers and all, as it came. */
  raw: string;
  text: string;
  html: string;
  /** The link to set a password. */
  link: string;
}

export interface MailServer {
  url: string;
  port: number;
  received: ReceivedMail[];
  /** Called when a mail has arrived, before the server takes it; what it throws is the server's refusal. */
  onMail: (mail: ReceivedMail) => void | Promise<void>;
  /** Called for each recipient; what it throws is the server's refusal. */
  onRecipient: (address: string) => void;
  /** Called for each connection, before the greeting. */
  onConnect: () => void | Promise<void>;
  /** Resolves with the first `count` mails to this address, or rejects after a minute. */
  waitFor(count: number, to: string): Promise<ReceivedMail[]>;
  close(): Promise<void>;
}

export const refusal = (responseCode: number, message: string) =>
  Object.assign(new Error(message), { responseCode });

export const passwordOfServer = 'p@ss of the mail server';

/** A real SMTP server on loopback, with responses set by the test. */
export async function startMailServer(port = 0): Promise<MailServer> {
  const arrivals = new EventEmitter().setMaxListeners(0);
  const server = new SMTPServer({
    onAuth: ({ username, password }, _session, callback) =>
      username === 'parcelhook' && password === passwordOfServer
        ? callback(null, { user: username })
        : callback(refusal(535, 'wrong password')),
    logger: false,
    closeTimeout: 100,
    onConnect: (_session, callback) => settle(() => mails.onConnect(), callback),
    onRcptTo: ({ address }, _session, callback) => settle(() => mails.onRecipient(address), callback),
    onData: (stream, { envelope }, callback) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = envelope;
        const mail = read(Buffer.concat(chunks).toString(), mailFrom ? mailFrom.address : '', rcptTo);
        void settle(async () => {
          await mails.onMail(mail);
          mails.received.push(mail);
          arrivals.emit('arrival');
        }, callback);
      });
    },
  });
  server.on('error', () => undefined); // clients that end in the middle
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  const own = (server.server.address() as { port: number }).port;
  const mails: MailServer = {
    url: `smtp://parcelhook:${encodeURIComponent(passwordOfServer)}@127.0.0.1:${own}`,
    port: own,
    received: [],
    onMail: () => undefined,
    onRecipient: () => undefined,
    onConnect: () => undefined,
    waitFor: async (count, to) => {
      const signal = AbortSignal.timeout(60_000);
      for (;;) {
        const found = mails.received.filter((mail) => mail.to.includes(to));
        if (found.length >= count) return found.slice(0, count);
        await once(arrivals, 'arrival', { signal });
      }
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return mails;
}

const settle = (work: () => void | Promise<void>, callback: (error?: Error) => void): void =>
  void Promise.resolve()
    .then(work)
    .then(
      () => callback(),
      (error: Error) => callback(error),
    );

function read(raw: string, from: string, rcptTo: { address: string }[]): ReceivedMail {
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(raw)?.[1]?.trim() ?? '';
  const boundary = /boundary="([^"]+)"/.exec(raw)?.[1] ?? '';
  const part = (type: string) => {
    const found = raw.split(`--${boundary}`).find((one) => one.includes(`Content-Type: ${type}`)) ?? '';
    const content = found.slice(found.indexOf('\r\n\r\n') + 4);
    return /quoted-printable/i.test(found) ? fromQuotedPrintable(content) : content;
  };
  const text = part('text/plain');
  return {
    from,
    to: rcptTo.map(({ address }) => address),
    messageId: header('Message-ID'),
    subject: header('Subject'),
    raw,
    text,
    html: part('text/html'),
    link: /\S+\/set-password\?token=\S+/.exec(text)?.[0] ?? '',
  };
}

const fromQuotedPrintable = (text: string): string =>
  Buffer.from(
    text
      .replace(/=\r\n/g, '')
      .replace(/=([\dA-F]{2})/g, (_, code: string) => String.fromCharCode(parseInt(code, 16))),
    'latin1',
  ).toString();
