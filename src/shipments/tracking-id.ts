import { someRandomBytes } from '../platform/ids.js';

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** `PH`, the time in milliseconds (9 characters) and 45 random bits (9): unique, unguessable, ordered by time. */
export function newTrackingId(nowMs: number = Date.now()): string {
  let time = '';
  for (let rest = nowMs, i = 0; i < 9; i += 1, rest = Math.floor(rest / 32))
    time = crockford[rest % 32] + time;
  const random = Array.from(someRandomBytes(9), (byte) => crockford[byte & 31]).join('');
  return `PH${time}${random}`;
}
