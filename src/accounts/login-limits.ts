import { createHmac } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { tooManyRequests } from '../platform/errors.js';
import type { RateLimits } from '../platform/rate-limit.js';
import { hashing } from './credentials.js';

/** Who tries to log in: account key and e-mail as they were sent, whether they are known or not. */
export interface LoginAttempt {
  accountKey: string;
  email: string;
  ip: string;
}

export interface LoginLimits {
  /**
   * Runs `verify` when its turn comes. It calls `spend` before it hashes, and answers null where the credentials are
   * wrong. Throws ApiError TOO_MANY_REQUESTS where the account or the address has used up its hour, UNAVAILABLE where
   * too many wait.
   */
  attempt<User>(
    from: LoginAttempt,
    verify: (spend: () => Promise<void>) => Promise<User | null>,
  ): Promise<User | null>;
}

export interface LoginLimitOptions {
  limits: RateLimits;
  /** Per hour, right or wrong: each of them costs a hash. */
  perAccount: number;
  /** Failures per hour; 0 is any number. An address may be that of many users, whose successes are no attack. */
  failuresPerIp: number;
  /** Makes keys of what must not be read in Redis. */
  secret: string;
  onLimited(limit: 'login_account' | 'login_ip'): void;
}

const windowSeconds = 3_600;
/** One account cannot fill the places for all; who logs in from many processes at once still gets through. */
const waitingPerAccount = 8;

export function createLoginLimits(options: LoginLimitOptions): LoginLimits {
  const { limits, perAccount, failuresPerIp, onLimited } = options;
  const accounts = limits.limit({ name: 'login-account', points: perAccount, windowSeconds });
  const addresses = limits.limit({ name: 'login-ip', points: failuresPerIp, windowSeconds });
  const hidden = (text: string) => createHmac('sha256', options.secret).update(text).digest('base64url');
  const refuse = (limit: Parameters<typeof onLimited>[0], waitMs: number): never => {
    onLimited(limit);
    throw tooManyRequests('Too many logins; use the token for as long as it lasts.', waitMs / 1_000);
  };

  return {
    attempt: async ({ accountKey, email, ip }, verify) => {
      const account = hidden(`${accountKey}\0${email}`);
      const address = hidden(addressBlock(ip));
      const [ofAccount, ofAddress] = await Promise.all([accounts.look(account), addresses.look(address)]);
      if (failuresPerIp > 0 && ofAddress.left <= 0) refuse('login_ip', ofAddress.resetMs);
      if (ofAccount.left <= 0) refuse('login_account', ofAccount.resetMs);
      if (hashing.waiting(account) >= waitingPerAccount) refuse('login_account', 1_000);
      const spend = async () => {
        const { left, resetMs } = await accounts.spend(account);
        if (left < 0) refuse('login_account', resetMs);
      };
      const user = await hashing.run(account, () => verify(spend));
      if (!user) await addresses.spend(address);
      return user;
    },
  };
}

/** What one caller has: an IPv4 address, or the /64 of an IPv6 address. */
function addressBlock(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  return address.kind() === 'ipv6'
    ? (address as ipaddr.IPv6).parts.slice(0, 4).join(':')
    : address.toString();
}
