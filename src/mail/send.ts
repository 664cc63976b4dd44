import type { Transporter } from 'nodemailer';
import { html, toText } from '../http/docs/pages.js';
import type { Database } from '../platform/database/postgres.js';
import { isLoopback } from '../platform/networks.js';
import type { Logger } from '../platform/telemetry/logger.js';
import type { Metrics } from '../platform/telemetry/metrics.js';
import { claimMails, dropMail, settleMail, type OwedMail } from './store.js';

export interface MailContent {
  to: string;
  subject: string;
  paragraphs: string[];
  action: { label: string; url: string };
  /** After the action. */
  remarks: string[];
}

/** Called before each attempt; null: nobody is to get the mail. */
export type ComposeMail = (db: Database, mail: OwedMail) => Promise<MailContent | null>;

export interface MailSender {
  name: string;
  address: string;
}

export interface MailServer {
  host: string;
  port: number;
  /** TLS from the start, instead of STARTTLS. */
  isSecure: boolean;
  login: { user: string; password: string } | null;
}

interface MailingDependencies {
  db: Database;
  logger: Logger;
  metrics: Pick<Metrics, 'mails'>;
  server: MailServer;
  from: MailSender;
  firstRetryMs: number;
  compose: ComposeMail;
}

const atOnce = 5;
const connectTimeoutMs = 5_000;
/** Less than the lease of a mail, and than SHUTDOWN_TIMEOUT. */
const sendTimeoutMs = 15_000;
const stopAfterMs = 2_000;
const maxRetryMs = 3_600_000;
const moreAfterMs = 100;

/**
 * Sends what is due, a few mails at once. A mail is noted as sent after the server has taken it: a process that ends
 * between leaves it to be sent again, with the same Message-ID. The log tells nothing of the recipient: what the server
 * says may repeat the address, so only its code is logged.
 */
export function createMailing(deps: MailingDependencies) {
  const { db, logger, metrics, compose, from } = deps;
  const stopping = new AbortController();
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  let transport: Promise<Transporter> | undefined;

  const send = async ({ mailId }: OwedMail, content: MailContent): Promise<void> => {
    transport ??= import('nodemailer').then(({ createTransport }) =>
      createTransport(transportOptions(deps.server)),
    );
    await (
      await transport
    ).sendMail({
      from,
      to: { name: '', address: content.to },
      subject: content.subject,
      ...bodiesOf(content),
      messageId: `<${mailId}@${domain}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
      disableFileAccess: true,
      disableUrlAccess: true,
      signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(sendTimeoutMs)]),
    });
  };

  const attempt = async (mail: OwedMail): Promise<void> => {
    const content = await compose(db, mail);
    if (!content) return dropMail(db, mail);
    const failure = await send(mail, content).then(
      () => null,
      (error: unknown) => error as SmtpFailure,
    );
    const retries = failure !== null && !isRefused(failure);
    const isOwed = await settleMail(db, mail, retries ? retryMs(deps.firstRetryMs, mail.attempts) : null);
    if (!failure) return void metrics.mails.inc({ outcome: 'sent' });
    const outcome = isOwed ? 'retried' : retries ? 'expired' : 'refused';
    metrics.mails.inc({ outcome });
    const { code, responseCode, command } = failure;
    const { mailId, kind, attempts } = mail;
    logger.warn({ mailId, kind, attempts, code, responseCode, command }, messages[outcome]);
  };

  return {
    run: async (): Promise<number | undefined> => {
      const mails = await claimMails(db, atOnce);
      const results = await Promise.allSettled(mails.map(attempt));
      const failed = results.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
      return mails.length === atOnce ? moreAfterMs : undefined;
    },
    /** A mail that is being sent has two seconds left; beyond them, another process tries it again. */
    stop: () => void setTimeout(() => stopping.abort(), stopAfterMs).unref(),
  };
}

const messages = {
  retried: 'mail not sent; retrying',
  refused: 'mail refused by the server; it is not sent again',
  expired: 'mail given up: it could not be sent for a day',
};

interface SmtpFailure {
  code?: string;
  responseCode?: number;
  command?: string;
}

/** A permanent refusal of this mail or its recipient. Of a log-in or a sender it is our mistake, which may be put right. */
const isRefused = ({ responseCode = 0, command = '' }: SmtpFailure): boolean =>
  responseCode >= 500 && ['RCPT TO', 'DATA'].includes(command);

/** The pause doubles with each attempt; ±10 %. */
const retryMs = (firstRetryMs: number, attempts: number): number =>
  Math.min(maxRetryMs, firstRetryMs * 2 ** (attempts - 1)) * (0.9 + 0.2 * Math.random());

/**
 * A password is sent over TLS to a server with a valid certificate only. Without a password any encryption is better
 * than none (RFC 7435): an attacker who could change a certificate could suppress STARTTLS as well.
 */
export function transportOptions({ host, port, isSecure, login }: MailServer) {
  const mustBeSure = (isSecure || login !== null) && !isLoopback(host);
  return {
    host: host.replace(/^\[|\]$/g, ''),
    port,
    secure: isSecure,
    ...(login && { auth: { user: login.user, pass: login.password } }),
    ...(mustBeSure ? { requireTLS: true } : { opportunisticTLS: true }),
    tls: { rejectUnauthorized: mustBeSure },
    dnsTimeout: connectTimeoutMs,
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: connectTimeoutMs,
    socketTimeout: sendTimeoutMs,
  };
}

/** The same as plain text and as HTML. */
export function bodiesOf({ paragraphs, action, remarks }: MailContent): { text: string; html: string } {
  const text = [...paragraphs, `${action.label}:\n${action.url}`, ...remarks, '-- \nParcelhook'].join('\n\n');
  const page = html`<!doctype html>
    <html lang="en">
      <meta charset="utf-8" />
      <body style="font: 16px/1.5 system-ui, sans-serif; max-width: 34em; margin: 2em auto; padding: 0 1em">
        ${paragraphs.map((paragraph) => html`<p>${paragraph}</p>`)}
        <p><a href="${action.url}">${action.label}</a></p>
        ${remarks.map((remark) => html`<p>${remark}</p>`)}
        <p style="color: #666">Parcelhook</p>
      </body>
    </html>`;
  return { text: `${text}\n`, html: toText(page) };
}
