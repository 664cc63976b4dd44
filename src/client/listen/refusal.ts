import { diagnose, type Finding } from '../diagnose.js';
import type { Forwarded, LocalResponse, SignedNotification } from './forward.js';
import type { Signing } from './options.js';

export interface Refusal {
  /** The cause that `diagnose` found. `VERIFIES`: the notification verifies, so the fault is the server's. */
  cause: Finding['cause'] | 'LOGIN_REQUIRED' | 'OTHER_SECRET' | 'VERIFIES';
  /** Shows no secret, except the last four characters of the one that signs. */
  message: string;
}

const statuses = [400, 401, 403];

/**
 * Why the local server refused the notification, as far as its response and the secret tell. Null if it refused
 * nothing, or not because of a signature.
 */
export async function explainRefusal(
  { statusCode, response }: Pick<Forwarded, 'statusCode' | 'response'>,
  { headers, body }: SignedNotification,
  { secret, given }: Signing,
  { serviceUrl, now }: { serviceUrl: string; now: Date },
): Promise<Refusal | null> {
  if (!response || !statuses.includes(statusCode!)) return null;
  const because = (cause: Refusal['cause'], message: string) => ({
    cause,
    message: `Your server refused it with ${statusCode}. ${message}`,
  });
  const date = dateOf(response);
  const { findings } = await diagnose({ headers, rawBody: body, secret: given ?? secret, now: date ?? now });
  const clock = findings.find((each) => each.cause === 'CLOCK_OFF');
  if (clock) {
    const seconds = clock.clockAheadSeconds;
    const off = `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}`;
    return because('CLOCK_OFF', `The Date of its response shows that its clock is ${off}. Set that clock.`);
  }
  const docs = `${serviceUrl}/docs/receiving`;
  const verifies =
    given === null
      ? `The notification verifies with the secret that listen made (${masked(secret)}, shown at the start): does your server have that one? If it has another, give that to listen by --secret or WEBHOOK_SECRET. If it has this one and refuses the signature, it probably parses the body and writes it again before it verifies: ${docs}`
      : `The notification verifies with the secret that you gave (${masked(secret)})${date ? ', and the clocks agree' : ''}. If your server refuses the signature, it probably parses the body and writes it again before it verifies, or it has another secret: ${docs}`;
  if (findings.length > 0) {
    const faults = findings.map(({ message }) => message).join(' ');
    return because(
      findings[0]!.cause,
      `About --secret or WEBHOOK_SECRET: ${faults} listen corrected that before it signed; your server may have the same fault. ${verifies}`,
    );
  }
  if (statusCode === 401 && response.asksForLogin)
    return because(
      'LOGIN_REQUIRED',
      `It asks for a login (WWW-Authenticate), so it may not have looked at the signature: if so, let this path through without a login. ${verifies}`,
    );
  return because(given === null ? 'OTHER_SECRET' : 'VERIFIES', verifies);
}

function dateOf({ date }: LocalResponse): Date | null {
  const ms = Date.parse(date ?? '');
  return Number.isNaN(ms) ? null : new Date(ms);
}

/** The last four characters tell one secret from another. */
export const masked = (secret: string): string => `whsec_…${secret.slice(-4)}`;

const maxCharacters = 160;

/**
 * The response's text in a line, without control characters and without the secret: escaped, a part of it, or in hex, as
 * servers write it. Null if it is empty or a page.
 */
export function lineOf({ text }: LocalResponse, { secret }: Signing): string | null {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const forms = [key.toString('base64'), key.toString('hex'), Buffer.from(secret).toString('hex')];
  const line = unescaped(text)
    .replace(/whsec_[^\s"'`“”‘’]*/gi, 'whsec_…')
    .replace(/(\b[\da-f]{2}[\s:]){7,}[\da-f]{2}|[\w+/=-]{8,}/gi, (run) => (hasPart(run, forms) ? '…' : run))
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  if (line === '' || line.startsWith('<')) return null;
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters)}…` : line;
}

/** Visible characters as in JSON, a URL or HTML, be it several times. */
function unescaped(text: string): string {
  const once = text.replace(
    /(?<!\\)\\+(?:\/|(?:u00|x)([2-7][\da-f]))|%([2-7][\da-f])|&#x([2-7][\da-f]);|&#(\d{2,3});/gi,
    (_whole, json?: string, url?: string, html?: string, decimal?: string) => {
      const hex = json ?? url ?? html;
      if (hex === undefined && decimal === undefined) return '/';
      return String.fromCharCode(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
    },
  );
  return once === text ? text : unescaped(once);
}

/** A run this short reveals nothing of a secret. */
const partCharacters = 8;

/** Whether any part of the run is one of a form, in Base64, that for URLs, or hex. */
function hasPart(run: string, forms: string[]): boolean {
  const plain = run.replaceAll('-', '+').replaceAll('_', '/').replace(/[\s:]/g, '');
  return Array.from({ length: plain.length - partCharacters + 1 }, (_, start) =>
    plain.slice(start, start + partCharacters),
  ).some((part) => forms.some((form) => form.includes(part) || form.includes(part.toLowerCase())));
}
