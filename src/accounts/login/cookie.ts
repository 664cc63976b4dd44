import type { Request, Response } from 'express';

/** The session's cookie: no script reads it, no other site's page sends it. */
export interface SessionCookie {
  /** The token; empty if what was sent cannot be one; null without the cookie. */
  read(request: Request): string | null;
  set(response: Response, token: string, lifetimeSeconds: number): void;
  clear(response: Response): void;
}

const tokenPattern = /^[\w.-]{1,4096}$/;

/**
 * Over HTTPS its name has the prefix `__Host-` (RFC 6265bis): browsers then take it from this host alone. Of two cookies
 * with the name, one is from elsewhere: neither counts.
 */
export function createSessionCookie(publicUrl: string | undefined): SessionCookie {
  const isSecure = publicUrl !== undefined && new URL(publicUrl).protocol === 'https:';
  const name = isSecure ? '__Host-parcelhook' : 'parcelhook-session';
  const header = (value: string, maxAgeSeconds: number) =>
    `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    read: ({ headers }) => {
      const values = (headers.cookie ?? '')
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${name}=`))
        .map((pair) => pair.slice(name.length + 1));
      if (values.length === 0) return null;
      return values.length === 1 && tokenPattern.test(values[0]!) ? values[0]! : '';
    },
    set: (response, token, lifetimeSeconds) =>
      void response.set('Set-Cookie', header(token, lifetimeSeconds)),
    clear: (response) => void response.set('Set-Cookie', header('', 0)),
  };
}
