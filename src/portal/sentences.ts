/** Deliveries, attempts and replays told in sentences. Pure: the clock is an argument. */

import {
  blockerInShort,
  freely,
  fromNow,
  isCalled,
  isFailure,
  probeFromNow,
  type AttemptLike,
  type Calls,
  type DeliveryLike,
  type Turn,
} from './in-short.js';
import { countText, durationText } from './units.js';

const perhapsSecret = 'If it verifies signatures, this is what a wrong secret looks like.';

const statusHints: Record<number, string> = {
  400: `${perhapsSecret} If not, check that it reads notifications in the form we send.`,
  401: `${perhapsSecret} If not, it requires credentials: add them as a header of the webhook.`,
  403: `${perhapsSecret} If not, check its firewall.`,
  404: 'There is nothing at this path: check the target address.',
  405: 'It does not accept POST at this path: check the target address.',
  408: 'It waited too long for the request.',
  410: '410 means gone, so the webhook was disabled.',
  413: 'Its limit for request bodies is too small for a notification.',
  415: 'It does not accept application/json.',
  422: 'It did not accept the body: check that it reads notifications in the form we send.',
  429: 'It asked for fewer requests, so the webhook is called less often for a while.',
  502: 'A proxy in front of your server says that it could not reach it.',
  503: 'It says that it is temporarily unavailable.',
  504: 'A proxy in front of your server says that it got no response from it.',
};

/** The attempt as the receiver's log has it: such logs mostly have their times in UTC. */
const inItsLog = ({ startedAt }: AttemptLike, eventId: string | undefined): string =>
  eventId === undefined || startedAt === undefined
    ? 'the webhook-id'
    : `webhook-id ${eventId} at ${new Date(startedAt).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

function hintOfStatus(status: number, attempt: AttemptLike, eventId?: string): string {
  if (status >= 300 && status < 400) return 'Redirects are not followed: register the final address.';
  if (status >= 100 && status < 200) return 'That is not a final response.';
  if (status < 300) return '';
  const own = status < 500 ? 'It says that the request is at fault' : 'It failed inside';
  return statusHints[status] ?? `${own}: search its log for ${inItsLog(attempt, eventId)}.`;
}

const tlsFaults: Record<string, [fact: string, hint: string]> = {
  EXPIRED: ["Your server's certificate has expired", 'Renew it.'],
  SELF_SIGNED: [
    "Your server's certificate is self-signed",
    'Use one from a public certificate authority, with its intermediate certificates.',
  ],
  WRONG_HOST: [
    "Your server's certificate is for another host name",
    'It must name the host of the target address.',
  ],
  NOT_TLS: ['Your server did not speak TLS', 'Is this a plain HTTP port?'],
  INCOMPLETE_CHAIN: [
    "Your server's certificate leads to no known authority",
    'Send its intermediate certificates as well: serve the full chain, from a public certificate authority.',
  ],
  UNKNOWN_CA: [
    "Your server's certificate is from an authority that is not publicly trusted",
    'Use one from a public certificate authority.',
  ],
  OLD_TLS: ['Your server speaks only old versions of TLS', 'Enable TLS 1.2 or 1.3.'],
  BAD_CERTIFICATE: [
    "Your server's certificate may not be used",
    'It is not valid yet, not for servers, signed too weakly (SHA-1), or one that its authority may not sign: get another one.',
  ],
  NO_COMMON_CIPHER: [
    'Your server refused the TLS handshake',
    'Mostly it has no cipher, curve or kind of certificate in common with others: use those of Mozilla’s intermediate configuration.',
  ],
  CLIENT_CERTIFICATE_REQUIRED: [
    'Your server demands a client certificate',
    'It got none, or refused the one that the form of a webhook shows. Accept requests without one, and verify their signature; or trust that one.',
  ],
};

/** Faults of a response whose status counts nevertheless. */
const responseFaults: Record<string, [fact: string, hint: string]> = {
  MALFORMED_HEADER: [
    'but its headers are not valid HTTP',
    'The status counts all the same. Other clients may refuse it: look for a space in the name of a header, a control character in a value, or a line that ends without CR.',
  ],
  HEADERS_TOO_LARGE: ['but its headers exceed 16 KiB', 'The status counts all the same. Send fewer.'],
  RESPONSE_TOO_LARGE: [
    'but went on for more than 64 KiB',
    'The status counts all the same. A short body is enough.',
  ],
};

const waitedOf = ({ durationMs }: AttemptLike) => (durationMs === null ? 'in time' : within(durationMs));
/** A time limit is a round figure; the measured time is a little more. */
const within = (ms: number) => `within ${durationText(ms < 1_000 ? ms : Math.round(ms / 1_000) * 1_000)}`;
const after = ({ durationMs }: AttemptLike) =>
  durationMs === null ? '' : ` after ${durationText(durationMs)}`;

/** A sentence without the full stop, so that a sentence can go on; `hint` is a sentence of its own, or empty. */
interface Told {
  fact: string;
  hint: string;
}

const told = (fact: string, hint = ''): Told => ({ fact, hint });

function outcomeOf(attempt: AttemptLike, eventId?: string): Told {
  const { statusCode, errorCode, durationMs } = attempt;
  switch (errorCode) {
    case 'TIMEOUT':
      return statusCode === null
        ? told(
            `Your server did not respond ${waitedOf(attempt)}`,
            'Respond first, and do the work after that.',
          )
        : told(
            `Your server responded ${statusCode}, but did not finish ${waitedOf(attempt)}`,
            'End the response; a short body is enough.',
          );
    case 'DNS':
      return attempt.errorDetail === 'TOO_MANY_ADDRESSES'
        ? told('The host name has more than 32 addresses', 'None of them is called.')
        : told(
            'The host name leads to no address that can be called',
            'Check what DNS has for it. Private addresses do not count.',
          );
    case 'CONNECT':
      return attempt.errorDetail === 'UNREACHABLE'
        ? told(
            'There is no way to the address of your server',
            'Check the address that DNS has for it, its network and its firewall.',
          )
        : told(
            'Your server refused the connection',
            'Nothing listens on this port, or a firewall refuses: is it running?',
          );
    case 'RESET':
      return told(
        statusCode === null
          ? `Your server closed the connection without a response${after(attempt)}`
          : `Your server responded ${statusCode}, and closed the connection too early`,
        'Look in its log for a crash. A proxy or a firewall before it may end connections, too.',
      );
    case 'TLS': {
      const fault = tlsFaults[attempt.errorDetail ?? ''];
      return fault
        ? told(...fault)
        : told(
            'No secure connection could be made',
            'TLS failed: check the certificate and its intermediate certificates, and that your server has TLS 1.2 or 1.3 with ECDHE.',
          );
    }
    case 'ADDRESS_DENIED':
      return told(
        'The target address must not be called',
        'Nothing was sent. Private and internal addresses are refused: register a public one.',
      );
    case 'PROTOCOL':
      return attempt.errorDetail === 'RESPONSE_TOO_LARGE'
        ? told('Your server sent 64 KiB, and no status among them', 'The connection was closed then.')
        : told(
            'Your server did not respond with valid HTTP',
            'Is another kind of server on this port, or one that speaks https?',
          );
  }
  if (statusCode !== null) {
    const measured = durationMs === null ? '' : ` in ${durationText(durationMs)}`;
    const [butFact, hint] = responseFaults[attempt.errorDetail ?? ''] ?? [];
    const fact = `Your server responded ${statusCode}${measured}`;
    const ofStatus = hintOfStatus(statusCode, attempt, eventId);
    return butFact ? told(`${fact}, ${butFact}`, `${ofStatus} ${hint}`.trim()) : told(fact, ofStatus);
  }
  if (errorCode === 'LOST' || (errorCode === null && durationMs === null))
    return told('The attempt was interrupted', 'It is not known whether your server got the notification.');
  return told(`The attempt failed${errorCode === null ? '' : ` (${errorCode})`}`);
}

const waits: Record<string, string> = {
  turn: 'for its turn',
  receiver: 'for your server to have a place',
  circuit: 'because your server kept failing',
  paused: 'while the webhook was not called',
  rate: 'for the pace of your host',
  us: 'for us',
};
const toldFromMs = 1_000;

/** Says what a late attempt waited for: "It had waited 12 s for its turn."; empty if it was not late. */
export function waitedSentence(waitedMs: Record<string, number> | null): string {
  const parts = Object.entries(waitedMs ?? {})
    .filter(([, ms]) => ms >= toldFromMs)
    .map(([cause, ms]) => `${durationText(ms)} ${waits[cause] ?? ''}`);
  return parts.length > 0 ? `It had waited ${parts.join(' and ')}.` : '';
}

const sentence = ({ fact, hint }: Told) => (hint ? `${fact}. ${hint}` : `${fact}.`);

export const attemptSentence = (attempt: AttemptLike, eventId?: string) =>
  sentence(outcomeOf(attempt, eventId));

function holdSentence(
  { heldBy, nextProbeAt }: DeliveryLike,
  nowMs: number,
  { maxPerSecond }: Calls,
  blocker: Turn | null,
): string {
  switch (heldBy) {
    case 'TURN':
      return blocker
        ? `It waits for ${blockerInShort(blocker, nowMs)}: states of a shipment go out in order.`
        : 'It waits for an earlier state of this shipment, which is still owed.';
    case 'CIRCUIT':
      return `It is waiting because your server kept failing; next probe ${probeFromNow(nextProbeAt, nowMs)}. If it works again, send the webhook a test: a success sends what is held.`;
    case 'PAUSED':
      return 'It is waiting because the webhook is paused. It will be sent when the webhook is resumed.';
    case 'DISABLED':
      return 'It is waiting because the webhook is disabled. It will be sent when you resume the webhook.';
    case 'RATE':
      return maxPerSecond === null
        ? 'It is waiting because the webhook is called more slowly for now: its receiver was slow or overloaded, or its host has not agreed to more.'
        : `It is waiting because the webhook is called at most ${countText(maxPerSecond, 'time', 'times')} a second.`;
    case 'SUSPENDED':
      return 'It is waiting because the account is suspended.';
  }
  return 'It is held.';
}

const cancelReasons: Record<string, string> = {
  WEBHOOK_DELETED: 'its webhook was deleted',
  SUPERSEDED: 'a later state of the shipment took its place',
  EXPIRED: 'it was owed for longer than the log is kept',
  ERASED: 'the personal data of its shipment was erased',
  REFUSED: 'your server asked for no more attempts',
};

const cancelSentence = ({ reason }: DeliveryLike) =>
  reason === null ? 'It was cancelled.' : `It was cancelled: ${cancelReasons[reason] ?? reason}.`;

/** Why a delivery goes no further, "its webhook was deleted"; empty for one that goes on, or has succeeded. */
export function endInWords(delivery: DeliveryLike): string {
  if (delivery.status === 'FAILED') return failedEnd(delivery);
  return delivery.status === 'CANCELLED' ? (cancelReasons[delivery.reason ?? ''] ?? '') : '';
}

function failedEnd({ reason, attemptCount }: DeliveryLike): string {
  if (reason === 'REFUSED') return 'it asked for no more attempts';
  return attemptCount > 1
    ? `retries are used up after ${attemptCount} attempts`
    : 'it will not be sent again';
}

/** The state of a delivery in a sentence. "Your server responded 503 in 212 ms; next attempt in 4 min." */
export function deliverySentence(
  delivery: DeliveryLike,
  nowMs: number,
  webhook = freely,
  blocker: Turn | null = null,
): string {
  const { status, lastAttempt, attemptCount, nextAttemptAt } = delivery;
  const failure = lastAttempt && isFailure(lastAttempt) ? outcomeOf(lastAttempt, delivery.eventId) : null;
  const before = (then: string) => (failure ? `${failure.fact}. ${then}` : then);
  const goingOn = ({ fact, hint }: Told, then: string) => sentence({ fact: `${fact}; ${then}`, hint });
  switch (status) {
    case 'SUCCEEDED':
      return lastAttempt ? `${outcomeOf(lastAttempt).fact}.` : 'It was delivered.';
    case 'PENDING': {
      const when = isCalled(webhook) ? fromNow(nextAttemptAt, nowMs) : 'when the webhook is resumed';
      return failure ? goingOn(failure, `next attempt ${when}`) : `It is due ${when}.`;
    }
    case 'SENDING':
      return before(attemptCount > 1 ? `Attempt ${attemptCount} is under way.` : 'It is being sent.');
    case 'HELD':
      return before(holdSentence(delivery, nowMs, webhook, blocker));
    case 'CANCELLED':
      return before(cancelSentence(delivery));
    case 'FAILED':
      return failure ? goingOn(failure, failedEnd(delivery)) : `It failed; ${failedEnd(delivery)}.`;
  }
  return `Its status is ${status}.`;
}

const triggers: Record<string, string> = {
  SCHEDULED: 'by schedule',
  MANUAL: 'by hand',
  TEST: 'a test',
  REPLAY: 'by a replay',
};

export const triggerText = ({ trigger, requestedBy }: { trigger: string; requestedBy: string | null }) =>
  requestedBy === 'OPERATOR' ? 'by hand, by the operator' : (triggers[trigger] ?? trigger);
