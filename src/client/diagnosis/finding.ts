import { firstDifference, type Difference } from './body.js';
import { secretMessages, type SecretProblem, type SecretReading } from './secret.js';

/** `message` is a sentence that says what to do. `certain` is whether it is proven or only likely. */
export type Finding = { message: string; certain: boolean } & (
  | { cause: 'HEADER_MISSING'; header: string }
  /** The pasted text names it, but its value could not be read. */
  | { cause: 'HEADER_UNREAD'; header: string }
  | { cause: 'TIMESTAMP_MALFORMED'; value: string }
  /** How far the receiver's clock is ahead of the timestamp; negative: behind. */
  | { cause: 'CLOCK_OFF'; clockAheadSeconds: number }
  | { cause: 'SECRET_MALFORMED'; problem: SecretProblem }
  | { cause: 'SIGNATURE_MALFORMED'; value: string }
  | { cause: 'BODY_CHANGED'; changes: string[]; difference: Difference | null }
  /** The text may stand for the right body, so nothing can be said about the signature. */
  | { cause: 'BODY_UNREAD' }
  | { cause: 'BODY_CONSUMED' | 'WRONG_COMPUTATION' | PlainCause }
);

type PlainCause =
  | 'NO_HEADERS'
  /** No header could be read in the pasted text. */
  | 'HEADERS_UNREAD'
  | 'ID_ALTERED'
  | 'OTHER_DELIVERY'
  /** `previousSecret` alone matches. */
  | 'PREVIOUS_SECRET'
  | 'WRONG_SECRET'
  /** These two are hints: the request verifies. */
  | 'ROTATION_UNDER_WAY'
  | 'SECRET_WITHOUT_PREFIX';

export const isHint = ({ cause }: Finding): boolean =>
  cause === 'ROTATION_UNDER_WAY' || cause === 'SECRET_WITHOUT_PREFIX';

const messages: Record<PlainCause, string> = {
  NO_HEADERS:
    'There are no headers: give those of the request, with webhook-id, webhook-timestamp and webhook-signature.',
  HEADERS_UNREAD:
    'No header could be read in the text. They may all be there: write one on each line, `webhook-id: …`, `webhook-timestamp: …` and `webhook-signature: …`.',
  ID_ALTERED: 'webhook-id was changed: sign and verify with it exactly as it came in the header.',
  OTHER_DELIVERY:
    'The headers and the body seem to belong to different requests: take all of them from the same attempt.',
  PREVIOUS_SECRET:
    'Only the secret from before the rotation matches: let the receiver accept both until the overlap has ended.',
  WRONG_SECRET:
    "No signature was made with this secret for these headers and this body. Most likely it is another webhook's secret, or an old one: use the one that was shown when this webhook was created or its secret last rotated. If nobody has it any more, rotate the secret. Headers and body must be of the same attempt.",
  ROTATION_UNDER_WAY:
    'Your secret makes the second of two signatures: it is the one from before a rotation, so put in the new one before the overlap ends, and compare with every signature.',
  SECRET_WITHOUT_PREFIX: 'The secret lacks `whsec_`: it works without it, but libraries may require it.',
};

export const finding = (cause: PlainCause, certain: boolean): Finding => ({
  cause,
  certain,
  message: messages[cause],
});

export const missingHeader = (header: string): Finding => ({
  ...{ cause: 'HEADER_MISSING', certain: true, header },
  message: `The header ${header} is missing: check that nothing before your code, such as a proxy, removes or renames it.`,
});

export const unreadHeader = (header: string): Finding => ({
  ...{ cause: 'HEADER_UNREAD', certain: false, header },
  message: `${header} stands in the text, but its value could not be read: write it on a line of its own, \`${header}: …\`.`,
});

/** `text`: one of those for which `isConsumed` is true. */
export const consumedBody = (text: string): Finding => ({
  ...{ cause: 'BODY_CONSUMED', certain: true },
  message:
    text.trim() === ''
      ? 'There is no body. Give the bytes as they arrived. If your code has none either, a body parser has read them: take them before it.'
      : `The body is \`${text.trim()}\`, which Parcelhook never sends: something read the real one before, so take the raw bytes before any body parser.`,
});

export const unreadBody = (why: string): Finding => ({
  ...{ cause: 'BODY_UNREAD', certain: false },
  message: `The body could not be read: ${why}. Give all of it, as it arrived before any parser, or as \`base64\` or \`xxd -p\` prints it. Only then can the secret be checked.`,
});

export const malformedSecret = ({ problems }: SecretReading, certain: boolean): Finding[] =>
  problems.map((problem) => ({
    ...{ cause: 'SECRET_MALFORMED', certain, problem },
    message: secretMessages[problem],
  }));

export function changedBody(
  changes: string[],
  given: Uint8Array,
  sent: Uint8Array,
  certain: boolean,
): Finding {
  const difference = firstDifference(given, sent);
  const where = difference ? `, from byte ${difference.offset} on` : '';
  return {
    ...{ cause: 'BODY_CHANGED', certain, changes, difference },
    message: `The body ${certain ? 'differs' : 'seems to differ'} from what was sent${where}: ${changes.join(', ')}. Verify the bytes as they arrived, before any parser.`,
  };
}

/** `values`: of the header; `hasMatch`: whether one of its signatures was found to match. */
export function malformedSignatures(values: string[], hasMatch: boolean): Finding[] {
  return values.flatMap((value): Finding[] => {
    if (signatureForm.test(value)) return [];
    const isWhole = digestsIn(value).length > 0;
    const message = !isWhole
      ? 'webhook-signature holds no complete signature: copy it again, with `v1,` and 44 characters for each.'
      : /v1,/.test(value)
        ? 'webhook-signature was changed on the way: pass it on as it came, each signature as `v1,…`, separated by spaces.'
        : 'webhook-signature lacks `v1,`: pass the header on as it came, and remove `v1,` only where you compare.';
    return [{ cause: 'SIGNATURE_MALFORMED', certain: hasMatch || !isWhole, message, value }];
  });
}

const signatureForm = /^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$/;

export const digestsIn = (value: string): string[] =>
  value
    .split(/[\s,"']+/)
    .map((part) => part.replace(/^v\d+[a-z]?=/, ''))
    .filter((part) => /^[A-Za-z0-9+/]{43}=?$/.test(part))
    .map((part) => part.padEnd(44, '='));

export function wrongTime(value: string, now: Date, toleranceSeconds: number): Finding[] {
  if (!/^\d{1,12}$/.test(value)) {
    const message = isMilliseconds(value)
      ? 'webhook-timestamp is in milliseconds: it was sent in seconds, so pass it on unchanged.'
      : 'webhook-timestamp is not a number of seconds: pass it on as it came.';
    return [{ cause: 'TIMESTAMP_MALFORMED', certain: true, message, value }];
  }
  const clockAheadSeconds = Math.floor(now.getTime() / 1_000) - Number(value);
  if (Math.abs(clockAheadSeconds) <= toleranceSeconds) return [];
  const message =
    clockAheadSeconds > 0
      ? `Your clock is ${clockAheadSeconds} s ahead of webhook-timestamp (${toleranceSeconds} s are allowed): set the clock if the request came just now, and refuse the request if it is that old.`
      : `Your clock is ${-clockAheadSeconds} s behind webhook-timestamp (${toleranceSeconds} s are allowed): set the clock.`;
  return [{ cause: 'CLOCK_OFF', certain: true, message, clockAheadSeconds }];
}

export const isMilliseconds = (timestamp: string): boolean => /^\d{13}$/.test(timestamp);
