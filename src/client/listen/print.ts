import { STATUS_CODES } from 'node:http';
import type { Forwarded } from './forward.js';

export interface Notified extends Forwarded {
  at: Date;
  eventId: string;
  sequence: number;
  trackingId: string;
  state: string;
}

/** Prints what happens while listening. */
export interface Printer {
  listening(about: { url: string; forward: string; secret: string; since: Date | undefined }): void;
  notified(about: Notified): void;
  /** The local server responded 400 or 401 for the first time: the signature may be why. */
  unverified(): void;
  /** The service has not been reached yet. */
  waiting(reason: string, waitMs: number): void;
  interrupted(reason: string): void;
  resumed(): void;
  /** The cursor is no longer valid: listening resumes from a time, or from now. */
  placeGone(reason: string, from: string | null): void;
  ended(counts: { forwarded: number; refused: number }): void;
}

/** Prints text for people. */
export const createPrinter = (write: (text: string) => void): Printer => {
  const print = (line: string) => write(`${printable(line)}\n`);
  return {
    listening({ url, forward, secret, since }) {
      print(`Listening to ${url} from ${since?.toISOString() ?? 'now'} (Ctrl-C ends)`);
      print(`Forwarding to ${forward}`);
      print(`Signing with ${secret}`);
    },
    notified({ at, state, trackingId, ok, statusCode, errorCode, durationMs }) {
      const outcome =
        statusCode === null ? errorCode : `${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trimEnd();
      const mark = ok ? '' : '  rejected';
      print(`${at.toISOString()}  ${state}  ${trackingId}  ${outcome}  ${durationMs} ms${mark}`);
    },
    unverified: () =>
      print(
        'If your server refuses the signature: does it have the secret above, the raw body (before any JSON parser), and all three webhook-… headers? diagnose() of @parcelhook/client, or the signature doctor of the portal, names the cause.',
      ),
    waiting: (reason, waitMs) =>
      print(`The service cannot be reached yet: ${reason} Retrying in ${Math.ceil(waitMs / 1_000)} s.`),
    interrupted: (reason) => print(`Interrupted: ${reason} Retrying; it resumes where it stopped.`),
    resumed: () => print('Reconnected.'),
    placeGone: (reason, from) =>
      print(
        `The position in the feed is no longer valid (${reason}). Resuming from ${from ?? 'now'}` +
          `${from ? ', without the events already forwarded' : ''}.`,
      ),
    ended: ({ forwarded, refused }) => print(`Forwarded ${forwarded}, rejected ${refused}.`),
  };
};

/** Prints one JSON object per line, distinguished by its `type`. */
export const createJsonPrinter = (write: (text: string) => void): Printer => {
  const print = (type: string, about: object = {}) => write(`${JSON.stringify({ type, ...about })}\n`);
  return {
    listening: ({ since, ...about }) => print('listening', { ...about, since: since ?? null }),
    notified: (about) => print('notification', about),
    unverified: () => print('unverified'),
    waiting: (reason, waitMs) => print('waiting', { reason, waitMs }),
    interrupted: (reason) => print('interrupted', { reason }),
    resumed: () => print('resumed'),
    placeGone: (reason, from) => print('placeGone', { reason, from }),
    ended: (counts) => print('ended', counts),
  };
};

/** Escapes control characters, which could steer a terminal. */
const printable = (text: string): string =>
  text.replace(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
