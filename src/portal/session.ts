import { signal } from '@preact/signals';
import { call, changeCookie, isApiError, isExpired, renewSession } from './api.js';

export interface Session {
  /** Null for the operator. */
  user: { userId: string; email: string } | null;
  shipper: { shipperId: string; name: string };
  startedAt: string;
  /** When it ends unless it is used. */
  expiresAt: string;
  /** When it ends at the latest. */
  lastsUntil: string;
  features: { simulate: boolean; email: boolean };
  /** The session is the operator's, for support: the service refuses every change. */
  readOnly?: true;
  /** When the operator last opened this portal. */
  supportOpenedAt?: string;
}

export interface Credentials {
  key: string;
  email: string;
  password: string;
}

/** Undefined until it is known, null if nobody is logged in. It stays while the log-in dialog is open. */
export const session = signal<Session | null | undefined>(undefined);

const otherTabs = new BroadcastChannel('parcelhook.session');
/** The others wait no longer: a tab may be closed before it says that its change has ended. */
const maxChangeMs = 30_000;
let changeElsewhere = Promise.withResolvers<void>();
otherTabs.onmessage = ({ data }: MessageEvent<'changing' | 'changed'>) => {
  if (data === 'changed') return void loadSession().finally(changeElsewhere.resolve);
  changeElsewhere = Promise.withResolvers();
  setTimeout(changeElsewhere.resolve, maxChangeMs);
  void changeCookie(changeElsewhere.promise);
};

const keyOfAccount = 'parcelhook.account-key';

export const rememberedKey = () => localStorage.getItem(keyOfAccount) ?? '';

export async function loadSession(): Promise<void> {
  take(await call<Session | null>('GET', '/v1/session', undefined, { isLogin: true }));
}

/** Throws an ApiError: 401 if one of the three is wrong, 429 with a wait. */
export async function logIn(credentials: Credentials): Promise<void> {
  await call('POST', '/v1/session', credentials, { isLogin: true });
  localStorage.setItem(keyOfAccount, credentials.key);
  await loadSession();
  otherTabs.postMessage('changed');
}

/** This replaces the cookie, which all tabs share. A read refused meanwhile, in any of them, is tried again afterwards. */
export async function changePassword(passwords: {
  currentPassword: string;
  newPassword: string;
}): Promise<void> {
  otherTabs.postMessage('changing');
  try {
    await changeCookie(call('POST', '/v1/password', passwords).then(loadSession));
  } catch (error) {
    throw inWords(error);
  } finally {
    otherTabs.postMessage('changed');
  }
}

/** The service does not say which of the three is wrong, and neither does the page. */
export function inWords(error: unknown): unknown {
  if (!isApiError(error)) return error;
  if (error.status === 401) error.message = 'Account key, e-mail or password is wrong.';
  if (error.status === 429)
    error.message = `Too many attempts. Try again ${error.retryAfterSeconds === null ? 'later' : `in ${waitOf(error.retryAfterSeconds)}`}.`;
  return error;
}

const waitOf = (seconds: number) => (seconds < 90 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`);

/** Loads the page anew, so that nothing of this account is left in it. */
export async function endSession(path: string): Promise<void> {
  await call('DELETE', path, undefined, { isLogin: true });
  otherTabs.postMessage('changed');
  location.assign('/');
}

export const logOut = () => endSession('/v1/session');

/** Logs the user out in every browser and program that has logged in. */
export const logOutEverywhere = () => endSession('/v1/sessions');

/**
 * Log-ins and log-outs in other tabs count here too: the tabs share the cookie. If somebody else has logged in, nothing
 * on this page is theirs. A session that is gone leaves the page as it is, under the log-in dialog.
 */
function take(found: Session | null): void {
  const previous = session.value;
  if (previous && found && previous.user?.userId !== found.user?.userId) return void location.reload();
  if (previous && !found) isExpired.value = true;
  else session.value = found;
  if (found) renewSession();
}

/** The page that the service serves says what the service has. */
const told = (name: string) =>
  document.querySelector(`meta[name="parcelhook-${name}"]`)?.getAttribute('content');
const has = (name: string) => told(name) === 'on';

/** An inbox: for development only. */
export const hasInbox = has('inbox');
/** E-mails: with them a forgotten password needs nobody's help. */
export const hasEmail = has('email');
/** An account that the service itself has made and greeted with: never in production. */
export const hasGreeting = has('greeting');
/** How many attempts a delivery gets by the schedule. */
export const maxAttempts = Number(told('attempts'));
