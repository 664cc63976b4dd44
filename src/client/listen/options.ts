import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { readSecret, secretMessages } from '../diagnosis/secret.js';

export class UsageError extends Error {}

export type Env = Record<string, string | undefined>;

export interface Signing {
  secret: string;
  /** The secret as the user gave it; null if `listen` made it. */
  given: string | null;
}

/** Names the account: by a program's token, or by a user, whose password is prompted for if unset. */
export type ListenAccount = { token: string } | { key: string; email: string; password: string | undefined };

export interface ListenOptions {
  /** Address of the service. */
  url: string;
  account: ListenAccount;
  forward: URL;
  /** Unset: every state. */
  interests: ReadonlySet<string> | undefined;
  /** Unset: from now. */
  since: Date | undefined;
  signing: Signing;
  json: boolean;
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const known = {
  forward: text,
  url: text,
  token: text,
  key: text,
  email: text,
  password: text,
  interests: text,
  since: text,
  secret: text,
  json: flag,
  help: { ...flag, short: 'h' },
} as const;

/** Returns null if `args` ask for help. Throws a UsageError that lists every problem. */
export function readOptions(args: string[], env: Env): ListenOptions | null {
  const given = parsed(args);
  if (given.help) return null;
  const problems: string[] = [];
  const take = <Value>(read: () => Value): Value | undefined => {
    try {
      return read();
    } catch (error) {
      problems.push((error as Error).message);
      return undefined;
    }
  };
  const options = {
    url: take(() => serviceUrl(given.url || env.PARCELHOOK_URL || 'http://localhost:8080')),
    account: accountOf(given, env, take),
    forward: take(() => forwardUrl(given.forward)),
    interests: take(() => interestsOf(given.interests)),
    since: take(() => sinceOf(given.since)),
    signing: take(() => signingOf(given.secret ?? (env.WEBHOOK_SECRET || undefined))),
    json: given.json === true,
  };
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
  return options as ListenOptions;
}

function parsed(args: string[]) {
  try {
    return parseArgs({ args, options: known, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** A user named by an option comes before a token in the environment. */
function accountOf(
  given: ReturnType<typeof parsed>,
  env: Env,
  take: <Value>(read: () => Value) => Value | undefined,
) {
  const isUser = Boolean(given.key || given.email || given.password);
  if (given.token && isUser)
    take(() => {
      throw new UsageError('Give either --token, or --key, --email and --password.');
    });
  const token = given.token || (isUser ? '' : env.PARCELHOOK_TOKEN);
  if (token) return { token };
  return {
    key: take(() =>
      needed('--token or --key', 'PARCELHOOK_TOKEN or PARCELHOOK_KEY', given.key || env.PARCELHOOK_KEY),
    ),
    email: take(() => needed('--email', 'PARCELHOOK_EMAIL', given.email || env.PARCELHOOK_EMAIL)),
    password: given.password || env.PARCELHOOK_PASSWORD || undefined,
  };
}

function needed(option: string, variable: string, value: string | undefined): string {
  if (!value) throw new UsageError(`Give ${option} or set ${variable}.`);
  return value;
}

function serviceUrl(given: string): string {
  if (!isHttp(given)) throw new UsageError(`${given} is not a service URL such as http://localhost:8080`);
  const { origin, pathname } = new URL(given);
  return origin + pathname.replace(/\/+$/, '');
}

const isHttp = (url: string) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

function forwardUrl(given: string | undefined): URL {
  if (!given) throw new UsageError('Give --forward, such as http://localhost:3000/hook');
  if (!isHttp(given))
    throw new UsageError(`--forward: ${given} is not a URL such as http://localhost:3000/hook`);
  return new URL(given);
}

/** Names of states, separated by commas or spaces; `*` means all. Same rules as for a webhook. */
function interestsOf(given: string | undefined): ReadonlySet<string> | undefined {
  if (given === undefined) return undefined;
  const names = given.split(/[\s,]+/).filter(Boolean);
  const wrong = names.filter((name) => !/^(\*|[A-Z][A-Z0-9_]{0,63})$/.test(name));
  if (names.length === 0 || wrong.length > 0)
    throw new UsageError('--interests: give states separated by commas, such as PICKED_UP,DELIVERED, or *');
  return names.includes('*') ? undefined : new Set(names);
}

const unitMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** The beginning of 2001, as for the service's own filters. */
const minTimeMs = 978_307_200_000;
/** RFC 3339 as widely as the service takes it. */
const timeFormat =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt](\d{2}:\d{2})(:\d{2}(?:\.\d{1,3})?)?\d*(?:[Zz]|([+-]\d{2}):?(\d{2})?))?$/;

function momentMs(given: string): number {
  const [, day, minute, second = ':00', offset = '+00', minutes = '00'] = timeFormat.exec(given) ?? [];
  if (day === undefined) return NaN;
  return Date.parse(minute === undefined ? day : `${day}T${minute}${second}${offset}:${minutes}`);
}

function sinceOf(given: string | undefined): Date | undefined {
  if (given === undefined) return undefined;
  const ago = /^(\d{1,9})([smhd])$/.exec(given);
  if (ago) return new Date(Math.max(0, Date.now() - Number(ago[1]) * unitMs[ago[2]!]!));
  const isNumber = /^\d{1,14}$/.test(given);
  if (isNumber && Number(given) < minTimeMs)
    throw new UsageError('--since: this looks like seconds; give milliseconds since 1970');
  const ms = isNumber ? Number(given) : momentMs(given);
  if (Number.isNaN(ms))
    throw new UsageError(
      '--since: give how long ago (10m, 2h, 1d), or a time: ISO 8601 with an offset (2026-11-21T12:00:00Z), a date (its midnight UTC), or milliseconds',
    );
  return new Date(ms);
}

const maxSecretBytes = 64;

/**
 * Returns the secret as its owner meant it. One with quotation marks around it is not refused, so that a server that
 * has the same is told of them. Makes a new one if none is given.
 */
function signingOf(given: string | undefined): Signing {
  if (given === undefined) return { secret: `whsec_${randomBytes(32).toString('base64')}`, given: null };
  const { key, hasPrefix, problems } = readSecret(given, []);
  const isUsable = key && hasPrefix && key.length <= maxSecretBytes && !problems.includes('TOO_SHORT');
  if (isUsable) return { secret: `whsec_${Buffer.from(key).toString('base64')}`, given };
  const [problem] = problems;
  const about = problem ? ` ${secretMessages[problem]}` : '';
  throw new UsageError(`--secret or WEBHOOK_SECRET: give whsec_ and the Base64 of 24 to 64 bytes.${about}`);
}
