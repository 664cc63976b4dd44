import { STATUS_CODES } from 'node:http';
import type { Forwarded, Obstacle } from './forward.js';
import type { Signing } from './options.js';
import { masked, type Refusal } from './refusal.js';
import { printable } from './text.js';

export interface Notified extends Omit<Forwarded, 'response' | 'obstacle'> {
  at: Date;
  eventId: string;
  sequence: number;
  trackingId: string;
  state: string;
  /** The text of a refusal, in a line; null if it says nothing. */
  responseText: string | null;
  diagnosis: Refusal | Obstacle | null;
}

export interface Printer {
  listening(about: { url: string; forward: string; signing: Signing; since: Date | undefined }): void;
  notified(about: Notified): void;
  /** The service has not been reached yet. */
  waiting(reason: string, waitMs: number): void;
  interrupted(reason: string): void;
  resumed(): void;
  /** The cursor is no longer valid: listening resumes from a time, or from now. */
  placeGone(reason: string, from: string | null): void;
  /** `refused` counts all that did not succeed; `undelivered` those of them that got no response. */
  ended(counts: { forwarded: number; refused: number; undelivered: number }): void;
}

/** The words of the portal. */
const errors: Record<string, string> = {
  TIMEOUT: 'no response',
  DNS: 'name not found',
  CONNECT: 'refused the connection',
  RESET: 'connection closed',
  TLS: 'TLS failed',
  PROTOCOL: 'invalid HTTP',
};

const stateWidth = 'OUT_FOR_DELIVERY'.length;

export const createPrinter = (write: (text: string) => void): Printer => {
  const print = (line: string) => write(`${printable(line.replace(/[\n\t]/g, ' '))}\n`);
  const told = new Set<string>();
  return {
    listening({ url, forward, signing: { secret, given }, since }) {
      print(`Listening to ${url} from ${since?.toISOString() ?? 'now'} (Ctrl-C stops it)`);
      print(`Forwarding to ${forward}`);
      print(`Signing with ${given === null ? secret : `the secret that you gave, ${masked(secret)}`}`);
    },
    notified({ at, state, trackingId, ok, statusCode, errorCode, durationMs, responseText, diagnosis }) {
      const outcome =
        statusCode === null
          ? (errors[errorCode ?? ''] ?? errorCode)
          : `${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trimEnd();
      const failed = statusCode === null ? 'not delivered' : 'rejected';
      const mark = ok ? '' : `  ${failed}${responseText === null ? '' : `: ${responseText}`}`;
      print(
        `${at.toISOString()}  ${state.padEnd(stateWidth)}  ${trackingId}  ${outcome}  ${durationMs} ms${mark}`,
      );
      if (diagnosis === null || told.has(diagnosis.cause)) return;
      told.add(diagnosis.cause);
      print(diagnosis.message);
    },
    waiting: (reason, waitMs) =>
      print(`The service cannot be reached yet: ${reason} Retrying in ${Math.ceil(waitMs / 1_000)} s.`),
    interrupted: (reason) => print(`Interrupted: ${reason} Retrying; it resumes where it stopped.`),
    resumed: () => print('Reconnected.'),
    placeGone: (reason, from) =>
      print(
        `The position in the feed is no longer valid (${reason}). Resuming from ${from ?? 'now'}` +
          `${from ? ', without the events already forwarded' : ''}.`,
      ),
    ended: ({ forwarded, refused, undelivered }) =>
      print(
        `Forwarded ${forwarded}: ${forwarded - refused} accepted, ${refused - undelivered} rejected, ${undelivered} not delivered.`,
      ),
  };
};

export const createJsonPrinter = (write: (text: string) => void): Printer => {
  const print = (type: string, about: object = {}) =>
    write(`${printable(JSON.stringify({ type, ...about }))}\n`);
  return {
    listening: ({ since, signing: { secret, given }, ...about }) =>
      print('listening', {
        ...about,
        secret: given === null ? secret : masked(secret),
        since: since ?? null,
      }),
    notified: (about) => print('notification', about),
    waiting: (reason, waitMs) => print('waiting', { reason, waitMs }),
    interrupted: (reason) => print('interrupted', { reason }),
    resumed: () => print('resumed'),
    placeGone: (reason, from) => print('placeGone', { reason, from }),
    ended: ({ forwarded, refused }) => print('ended', { forwarded, refused }),
  };
};
