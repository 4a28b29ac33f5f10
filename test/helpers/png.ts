/**
 * A picture as a browser writes it: PNG, 8 bits a channel, RGB or RGBA, not interlaced.
 * Owns the decoding; what is looked for in the picture is a test's business.
 */
import { inflateSync } from 'node:zlib';

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** `#rrggbb` */
  colourAt(x: number, y: number): string;
}

const SIGNATURE = '89504e470d0a1a0a';
/** Bytes of a pixel by the colour type of the header. */
const CHANNELS: Readonly<Record<number, number>> = { 2: 3, 6: 4 };

export function decodePng(file: Buffer): Picture {
  if (file.subarray(0, 8).toString('hex') !== SIGNATURE) throw new Error('it is no PNG');
  const chunks = chunksOf(file);
  const header = chunks.find(({ type }) => type === 'IHDR')?.data;
  if (header === undefined) throw new Error('the PNG has no header');
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const channels = CHANNELS[header[9] ?? -1];
  if (header[8] !== 8 || header[12] !== 0 || channels === undefined)
    throw new Error('the PNG has a form that is not read here');
  const packed = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data));
  const rows = unfilter(inflateSync(packed), { stride: width * channels, height, channels });
  return {
    width,
    height,
    colourAt(x, y) {
      const at = (y * width + x) * channels;
      return `#${rows.subarray(at, at + 3).toString('hex')}`;
    },
  };
}

function chunksOf(file: Buffer): { readonly type: string; readonly data: Buffer }[] {
  const chunks = [];
  for (let at = 8; at < file.length;) {
    const length = file.readUInt32BE(at);
    chunks.push({
      type: file.toString('latin1', at + 4, at + 8),
      data: file.subarray(at + 8, at + 8 + length),
    });
    at += length + 12;
  }
  return chunks;
}

interface Layout {
  /** Bytes of a row. */
  readonly stride: number;
  readonly height: number;
  readonly channels: number;
}

/** Every row is written as its difference to neighbours, by the filter named in its first byte. */
function unfilter(data: Buffer, { stride, height, channels }: Layout): Buffer {
  const out = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = data[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x += 1) {
      const raw = data[y * (stride + 1) + 1 + x] ?? 0;
      const left = x >= channels ? (out[y * stride + x - channels] ?? 0) : 0;
      const up = y > 0 ? (out[(y - 1) * stride + x] ?? 0) : 0;
      const corner = x >= channels && y > 0 ? (out[(y - 1) * stride + x - channels] ?? 0) : 0;
      out[y * stride + x] = (raw + predicted(filter, { left, up, corner })) & 0xff;
    }
  }
  return out;
}

function predicted(
  filter: number,
  { left, up, corner }: { readonly left: number; readonly up: number; readonly corner: number },
): number {
  switch (filter) {
    case 0:
      return 0;
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) >> 1;
    case 4: {
      const guess = left + up - corner;
      const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
      return a <= b && a <= c ? left : b <= c ? up : corner;
    }
    default:
      throw new Error(`the PNG has a row of filter ${filter}`);
  }
}
