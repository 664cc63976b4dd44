import { expect, test } from '@jest/globals';
import { deflateSync, inflateSync } from 'node:zlib';
import { withFewColors } from '../../programs/draw/png.js';

function pngOf(pixels: [number, number, number][][]): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(type, 'latin1'), data, Buffer.alloc(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(pixels[0]!.length, 0);
  header.writeUInt32BE(pixels.length, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const lines = Buffer.concat(pixels.map((line) => Buffer.from([0, ...line.flat()])));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(lines)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const dataOf = (png: Buffer, type: string): Buffer => {
  const at = png.indexOf(type, 0, 'latin1');
  return png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4));
};

test('a drawing keeps its frequent colours, and others become the nearest of them', () => {
  const [black, red, nearlyRed] = [
    [0, 0, 0],
    [255, 0, 0],
    [250, 4, 0],
  ] as [number, number, number][];
  const png = withFewColors(
    pngOf([
      [black!, black!, red!],
      [black!, red!, nearlyRed!],
    ]),
    2,
  );
  const palette = [...dataOf(png, 'PLTE')];
  expect(palette).toEqual([0, 0, 0, 255, 0, 0]);
  expect([...inflateSync(dataOf(png, 'IDAT'))]).toEqual([0, 0, 0, 1, 0, 0, 1, 1]);
});
