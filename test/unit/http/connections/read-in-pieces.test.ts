import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { endOfPiece } from '../../../../src/http/connections/connections.js';

const head = (name: string) => `GET /${name} HTTP/1.1\r\n\r\n`;

test('a chunk is cut into pieces of at most so many heads, which together are the chunk', () => {
  const text = fc.oneof(fc.constant('\r\n'), fc.constant('\r\n\r\n'), fc.nat(99).map(String).map(head));
  fc.assert(
    fc.property(fc.array(text), fc.integer({ min: 1, max: 9 }), (texts, heads) => {
      const chunk = Buffer.from(texts.join(''));
      const pieces: string[] = [];
      for (let from = 0; from < chunk.length;) {
        const end = endOfPiece(chunk, from, heads);
        pieces.push(chunk.subarray(from, end).toString());
        from = end;
      }
      expect(pieces.join('')).toBe(chunk.toString());
      for (const piece of pieces) expect(piece.split(' HTTP/1.1').length - 1).toBeLessThanOrEqual(heads);
    }),
  );
});
