import { STATUS_CODES } from 'node:http';
import type { Forwarded } from './forward.js';

export interface Notified extends Forwarded {
  at: Date;
  eventId: string;
  sequence: number;
  trackingId: string;
  state: string;
}

/** What is told while listening. */
export interface Printer {
  listening(about: { url: string; forward: string; secret: string; since: Date | undefined }): void;
  notified(about: Notified): void;
  /** It was not there yet. */
  waiting(reason: string, waitMs: number): void;
  interrupted(reason: string): void;
  resumed(): void;
  /** It goes on from a moment, or from now. */
  placeGone(reason: string, from: string | null): void;
  ended(counts: { forwarded: number; refused: number }): void;
}

/** One line each, for people. */
export const createPrinter = (write: (text: string) => void): Printer => {
  const say = (line: string) => write(`${printable(line)}\n`);
  return {
    listening({ url, forward, secret, since }) {
      say(`Listening to ${url} ${since ? `from ${since.toISOString()}` : 'from now'} (Ctrl-C ends).`);
      say(`Notifications go to ${forward}`);
      say(`Their signatures are made with ${secret}`);
    },
    notified({ at, state, trackingId, ok, statusCode, errorCode, durationMs }) {
      const answer =
        statusCode === null ? errorCode : `${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trimEnd();
      const mark = ok ? '' : '  not taken';
      say(`${at.toISOString()}  ${state}  ${trackingId}  ${answer}  ${durationMs} ms${mark}`);
    },
    waiting: (reason, waitMs) =>
      say(`The service cannot be reached yet: ${reason} Next try in ${Math.ceil(waitMs / 1_000)} s.`),
    interrupted: (reason) => say(`Interrupted: ${reason} It goes on where it was.`),
    resumed: () => say('Back again.'),
    placeGone: (reason, from) =>
      say(
        `The place in the feed is gone (${reason}). It goes on from ${from ?? 'now'}` +
          `${from ? ', without what was forwarded already' : ''}.`,
      ),
    ended: ({ forwarded, refused }) => say(`Forwarded ${forwarded}; ${refused} of them were not accepted.`),
  };
};

/** One JSON object a line, told apart by its `type`. */
export const createJsonPrinter = (write: (text: string) => void): Printer => {
  const say = (type: string, about: object = {}) => write(`${JSON.stringify({ type, ...about })}\n`);
  return {
    listening: ({ since, ...about }) => say('listening', { ...about, since: since ?? null }),
    notified: (about) => say('notification', about),
    waiting: (reason, waitMs) => say('waiting', { reason, waitMs }),
    interrupted: (reason) => say('interrupted', { reason }),
    resumed: () => say('resumed'),
    placeGone: (reason, from) => say('placeGone', { reason, from }),
    ended: (counts) => say('ended', counts),
  };
};

/** The text without what could steer a terminal. */
const printable = (text: string): string =>
  text.replace(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
