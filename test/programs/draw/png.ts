import { crc32, deflateSync, inflateSync } from 'node:zlib';

/** A drawing has few colours: with a palette it takes a third of the space. */

interface Pixels {
  width: number;
  height: number;
  /** Three bytes a pixel. */
  rgb: Uint8Array;
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The most frequent, and for each other the one that is nearest. */
export function withFewColors(png: Buffer, count: number): Buffer {
  const pixels = decoded(png);
  const { palette, indexOf } = paletteOf(pixels, count);
  return encoded(pixels, palette, indexOf);
}

/** The format that chromium writes: eight bits a channel, RGB or RGBA, not interlaced. */
function decoded(png: Buffer): Pixels {
  const parts: Buffer[] = [];
  let [width, height, channels] = [0, 0, 0];
  for (let at = signature.length; at < png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') {
      width = data.readUInt32BE(0);
      height = data.readUInt32BE(4);
      channels = data[9] === 6 ? 4 : 3;
      if (data[8] !== 8 || ![2, 6].includes(data[9]!) || data[12] !== 0) throw new Error('not such a PNG');
    }
    if (type === 'IDAT') parts.push(data);
    at += length + 12;
  }
  return { width, height, rgb: unfiltered(inflateSync(Buffer.concat(parts)), width, height, channels) };
}

function unfiltered(data: Buffer, width: number, height: number, channels: number): Uint8Array {
  const stride = width * channels;
  let above = new Uint8Array(stride);
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    const from = y * (stride + 1);
    const filter = data[from]!;
    const line = new Uint8Array(stride);
    for (let n = 0; n < stride; n += 1) {
      const left = n >= channels ? line[n - channels]! : 0;
      const up = above[n]!;
      const corner = n >= channels ? above[n - channels]! : 0;
      line[n] = data[from + 1 + n]! + guessed(filter, left, up, corner);
    }
    for (let x = 0; x < width; x += 1)
      for (let c = 0; c < 3; c += 1) rgb[(y * width + x) * 3 + c] = line[x * channels + c]!;
    above = line;
  }
  return rgb;
}

function guessed(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

function paletteOf({ rgb }: Pixels, count: number) {
  const frequency = new Map<number, number>();
  for (let at = 0; at < rgb.length; at += 3) {
    const color = (rgb[at]! << 16) | (rgb[at + 1]! << 8) | rgb[at + 2]!;
    frequency.set(color, (frequency.get(color) ?? 0) + 1);
  }
  const byFrequency = [...frequency].sort((a, b) => b[1] - a[1]);
  const palette: number[] = byFrequency.slice(0, count / 4).map(([color]) => color);
  // Shades of a colour that is taken already are left to it: else text alone would take all places.
  for (const apart of [900, 200, 0])
    for (const [color] of byFrequency) {
      if (palette.length >= count) break;
      if (palette.every((taken) => distance(taken, color) > apart)) palette.push(color);
    }
  const indexes = new Map<number, number>();
  const indexOf = (color: number): number => {
    const known = indexes.get(color);
    if (known !== undefined) return known;
    let nearest = 0;
    for (let n = 1; n < palette.length; n += 1)
      if (distance(palette[n]!, color) < distance(palette[nearest]!, color)) nearest = n;
    indexes.set(color, nearest);
    return nearest;
  };
  return { palette, indexOf };
}

function distance(a: number, b: number): number {
  const [red, green, blue] = [16, 8, 0].map((shift) => ((a >> shift) & 255) - ((b >> shift) & 255));
  return red! ** 2 + green! ** 2 + blue! ** 2;
}

function encoded(
  { width, height, rgb }: Pixels,
  palette: number[],
  indexOf: (color: number) => number,
): Buffer {
  const lines = Buffer.alloc(height * (width + 1)); // each begins with its filter: none
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 3;
      lines[y * (width + 1) + 1 + x] = indexOf((rgb[at]! << 16) | (rgb[at + 1]! << 8) | rgb[at + 2]!);
    }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8); // eight bits, by palette
  const colors = Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]));
  const chunks = [
    chunk('IHDR', header),
    chunk('PLTE', colors),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat([signature, ...chunks]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const result = Buffer.alloc(body.length + 8);
  result.writeUInt32BE(data.length, 0);
  body.copy(result, 4);
  result.writeUInt32BE(crc32(body), body.length + 4);
  return result;
}
