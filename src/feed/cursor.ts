/** A reader's position: after the event with this position and id. */
export interface Place {
  position: bigint;
  eventId: string;
}

export interface Cursor extends Place {
  /** The epoch is renewed when the database is restored from a dump or replaced by a standby. */
  epoch: string;
  /** The reader has all events up to this time (epoch). */
  timeMs: number;
}

export const origin: Place = { position: 0n, eventId: '00000000-0000-0000-0000-000000000000' };

/** 46 bytes in base64url: epoch, position, event id, time. */
export const cursorForm = /^[A-Za-z0-9_-]{61}[AQgw]$/;

const idBytes = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex');
const idOf = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');

export function encodeCursor({ epoch, position, eventId, timeMs }: Cursor): string {
  const bytes = Buffer.alloc(46);
  idBytes(epoch).copy(bytes, 0);
  bytes.writeBigInt64BE(position, 16);
  idBytes(eventId).copy(bytes, 24);
  bytes.writeUIntBE(timeMs, 40, 6);
  return bytes.toString('base64url');
}

export function decodeCursor(text: string): Cursor {
  const bytes = Buffer.from(text, 'base64url');
  return {
    epoch: idOf(bytes.subarray(0, 16)),
    position: bytes.readBigInt64BE(16),
    eventId: idOf(bytes.subarray(24, 40)),
    timeMs: bytes.readUIntBE(40, 6),
  };
}
