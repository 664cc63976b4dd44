export type SecretProblem =
  | 'EMPTY'
  | 'SIGNATURE'
  | 'TOKEN'
  | 'ACCESS_TOKEN'
  | 'ACCOUNT_KEY'
  | 'ID'
  | 'MASKED'
  | 'ESCAPED'
  | 'WHITESPACE'
  | 'QUOTED'
  | 'PREFIX_CASE'
  | 'TEXT_BEFORE'
  | 'PREFIX_TWICE'
  | 'PASTED_TWICE'
  | 'URL_SAFE'
  | 'NOT_BASE64'
  | 'PADDING'
  | 'TOO_SHORT';

export const secretMessages: Record<SecretProblem, string> = {
  EMPTY:
    'The secret is empty: set it to the `whsec_…` that was shown when the webhook was created or its secret rotated.',
  SIGNATURE:
    'The secret is a signature (`v1,…`) copied from a request: use the `whsec_…` of the webhook instead.',
  TOKEN: 'The secret is an API token (`phk_…`): use the `whsec_…` of the webhook instead.',
  ACCESS_TOKEN:
    'The secret is an access token of a login (`eyJ…`): use the `whsec_…` of the webhook instead.',
  ACCOUNT_KEY: 'The secret is an account key (`ak_…`): use the `whsec_…` of the webhook instead.',
  ID: "The secret is an id: use the webhook's `whsec_…` instead.",
  MASKED:
    'The secret is a placeholder or masked: put in the real one, or rotate the secret if nobody has it any more.',
  ESCAPED: 'The secret is URL-encoded (`%2B`, `%3D`): decode it before you use it.',
  WHITESPACE: 'The secret has white space in it, perhaps a line break at its end: remove it.',
  QUOTED: 'The secret has quotation marks around it: remove them.',
  PREFIX_CASE:
    'The prefix of the secret must be `whsec_`, in lower case. Case matters in the rest of it, too: copy it again exactly as it was shown.',
  TEXT_BEFORE: 'The secret has other text before `whsec_`, such as the name of a variable: remove it.',
  PREFIX_TWICE: 'The secret has `whsec_` twice at its start: remove one.',
  PASTED_TWICE: 'The secret was pasted twice: remove one copy.',
  URL_SAFE: 'The secret has `-` or `_` where Base64 has `+` or `/`: copy it again exactly as it was shown.',
  NOT_BASE64: 'The secret is not `whsec_` and Base64: copy it again exactly as it was shown.',
  PADDING: 'The secret lacks the `=` at its end: copy it again exactly as it was shown.',
  TOO_SHORT: 'The secret is shorter than any that Parcelhook issues: a part is missing, so copy it again.',
};

export interface SecretReading {
  problems: SecretProblem[];
  hasPrefix: boolean;
  /** Null if no key can be made out. */
  key: Uint8Array<ArrayBuffer> | null;
}

/** A secret given by its owner has 24 to 64 bytes; the service makes 32. */
const minBytes = 24;
/** Beyond it, no text has a secret pasted with what stood around it. */
const maxCharacters = 10_000;

/** Reads a secret as its owner meant it. `digests`: the Base64 of the request's signatures. */
export function readSecret(text: string, digests: readonly string[]): SecretReading {
  const problems: SecretProblem[] = [];
  const none = (problem: SecretProblem): SecretReading => ({
    problems: [...problems, problem],
    hasPrefix: true,
    key: null,
  });
  if (text.trim() === '') return none('EMPTY');
  if (text.length > maxCharacters) return none('NOT_BASE64'); // patterns may cost the square of the length
  const clean = (problem: SecretProblem, before: string, after: string): string => {
    if (before !== after) problems.push(problem);
    return after;
  };
  let secret = clean('ESCAPED', text, unescaped(text));
  secret = clean('WHITESPACE', secret, secret.replace(/[\s\u200B-\u200D\u2060\uFEFF]/g, ''));
  secret = clean('QUOTED', secret, secret.replace(/^["'`“”‘’]+|["'`“”‘’]+$/g, ''));
  if (/^v\d+[a-z]?,/.test(secret) || digests.includes(secret)) return none('SIGNATURE');
  if (secret.startsWith('phk_')) return none('TOKEN');
  if (secret.startsWith('ak_')) return none('ACCOUNT_KEY');
  if (/^eyJ[\w-]+\.[\w-]+\./.test(secret)) return none('ACCESS_TOKEN');
  if (/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(secret)) return none('ID');
  if (/[•*…<>]|\.\.\./.test(secret)) return none('MASKED');
  secret = clean('PREFIX_CASE', secret, secret.replace(/whsec_/gi, 'whsec_'));
  secret = clean('PASTED_TWICE', secret, /^(whsec_.+)\1$/.exec(secret)?.[1] ?? secret);
  secret = clean('TEXT_BEFORE', secret, secret.replace(/^.*?["'`=:]+(?=whsec_)/, ''));
  secret = clean('PREFIX_TWICE', secret, secret.replace(/^(whsec_)+(?=whsec_)/, ''));
  const hasPrefix = secret.startsWith('whsec_');
  const base64 = secret.replace(/^whsec_/, '');
  const standard = clean('URL_SAFE', base64, base64.replaceAll('-', '+').replaceAll('_', '/'));
  const key = bytesOfBase64(standard);
  if (!key) return none('NOT_BASE64');
  if (standard.length % 4 !== 0) problems.push('PADDING');
  if (key.length < minBytes) problems.push('TOO_SHORT');
  return { problems, hasPrefix, key };
}

function unescaped(text: string): string {
  try {
    return /%[\da-f]{2}/i.test(text) ? decodeURIComponent(text) : text;
  } catch {
    return text;
  }
}

/** Null if it is not Base64 or is empty. Its padding may be missing. */
function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[A-Za-z0-9+/]{2,}={0,2}$/.test(text)) return null;
  try {
    return Uint8Array.from(atob(text.replace(/=+$/, '')), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
