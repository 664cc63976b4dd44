import { diagnose, type Finding } from '../diagnose.js';
import type { Forwarded, LocalResponse, SignedNotification } from './forward.js';
import type { Signing } from './options.js';

export interface Refusal {
  /** Of `diagnose`; or of a notification that verifies, so that the fault is the server's. */
  cause: Finding['cause'] | 'LOGIN_REQUIRED' | 'OTHER_SECRET' | 'VERIFIES';
  /** It holds no secret but the last four characters of the one to sign with. */
  message: string;
}

/** The statuses with which servers refuse what does not verify. */
const statuses = [400, 401, 403];

/**
 * Why the local server refused the notification, as far as its response and the secret tell. Null if it did not, or not
 * as one refuses a signature.
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
  if (response.asksForLogin)
    return because(
      'LOGIN_REQUIRED',
      'It asks for a login (WWW-Authenticate), so it probably never looked at the signature. Let this path through without a login.',
    );
  const date = dateOf(response);
  const { findings } = await diagnose({ headers, rawBody: body, secret: given ?? secret, now: date ?? now });
  const [found] = findings;
  if (found?.cause === 'CLOCK_OFF') {
    const seconds = found.clockAheadSeconds;
    const off = `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}`;
    return because('CLOCK_OFF', `The Date of its response shows that its clock is ${off}. Set that clock.`);
  }
  if (found) return because(found.cause, found.message);
  const docs = `${serviceUrl.replace(/\/+$/, '')}/docs/receiving`;
  if (given === null)
    return because(
      'OTHER_SECRET',
      `The notification verifies with the secret that listen made (${masked(secret)}, shown at the start): does your server have that one? If it has another, give that to listen by --secret or PARCELHOOK_SECRET. If it has this one and refuses the signature, it probably parses the body and writes it again before it verifies: ${docs}`,
    );
  return because(
    'VERIFIES',
    `The notification verifies with the secret that you gave (${masked(secret)})${date ? ', and the clocks agree' : ''}. If your server refuses the signature, it probably parses the body and writes it again before it verifies, or it has another secret: ${docs}`,
  );
}

/** Null if there is none. */
function dateOf({ date }: LocalResponse): Date | null {
  const ms = Date.parse(date ?? '');
  return Number.isNaN(ms) ? null : new Date(ms);
}

/** The last four characters tell one secret from another. */
export const masked = (secret: string): string => `whsec_…${secret.slice(-4)}`;

const maxCharacters = 160;

/** The response's text in a line, without any secret or control character. Null if it is empty or a page. */
export function lineOf({ text }: LocalResponse, { secret }: Signing): string | null {
  const line = text
    .replaceAll(secret.replace('whsec_', ''), '…')
    .replace(/whsec_[\w+/=-]+/g, 'whsec_…')
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  if (line === '' || line.startsWith('<')) return null;
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters)}…` : line;
}
