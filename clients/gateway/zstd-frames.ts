/**
 * The frames of a body in zstd (RFC 8878): where they end, and how much they can hold.
 * Owns the walk over their headers, and giving a frame that was cut an end of its own; decodes nothing.
 */

const MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const SKIPPABLE_MASK = 0xfffffff0;
/** Of the descriptor of a frame. */
const SINGLE_SEGMENT = 0x20;
const RESERVED = 0x08;
const CHECKSUM = 0x04;
const DICTIONARY = 0x03;
const DICTIONARY_BYTES = [0, 1, 2, 4];
/** No block holds more. */
const BLOCK_BYTES_MAX = 128 * 1024;
const BLOCK_HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;
/** A window has at least 2^10 bytes; more than 2^31 no decoder takes. */
const WINDOW_LOG_MIN = 10;
const WINDOW_LOG_MAX = 31;

interface WalkedFrames {
  /** Frames that end, one after the other. */
  readonly bytes: Buffer;
  /** What they may hold at most. */
  readonly plainBytesMax: number;
  /** Nothing was cut. */
  readonly isWhole: boolean;
}

interface Header {
  readonly descriptor: number;
  /** The byte that says how far back a frame may point. */
  readonly window: number;
  readonly dictionary: Buffer;
  /** Where the first block begins. */
  readonly blocks: number;
}

/** Null for what is no zstd. Of a frame that was cut, the blocks that came whole. */
export function walkFrames(bytes: Buffer): WalkedFrames | null {
  let plainBytesMax = 0;
  let at = 0;
  while (at < bytes.length) {
    if (bytes.length - at < 8) return { bytes: bytes.subarray(0, at), plainBytesMax, isWhole: false };
    const magic = bytes.readUInt32LE(at);
    if ((magic & SKIPPABLE_MASK) >>> 0 === SKIPPABLE_MAGIC) {
      const end = at + 8 + bytes.readUInt32LE(at + 4);
      if (end > bytes.length) return { bytes: bytes.subarray(0, at), plainBytesMax, isWhole: false };
      at = end;
      continue;
    }
    const header = magic === MAGIC ? headerAt(bytes, at) : null;
    if (header === null) return null;
    const found =
      header === 'cut' ? { end: null, ended: at, last: -1, bytesMax: 0 } : blocksOf(bytes, header);
    if (found === null) return null;
    plainBytesMax += found.bytesMax;
    if (found.end === null) {
      const whole = bytes.subarray(0, at);
      const closed = header === 'cut' || found.last < 0 ? [] : [closedFrame(bytes, header, found)];
      return { bytes: Buffer.concat([whole, ...closed]), plainBytesMax, isWhole: false };
    }
    at = found.end;
  }
  return { bytes, plainBytesMax, isWhole: bytes.length > 0 };
}

function headerAt(bytes: Buffer, at: number): Header | 'cut' | null {
  const descriptor = bytes[at + 4] ?? 0;
  if ((descriptor & RESERVED) !== 0) return null;
  const isSingle = (descriptor & SINGLE_SEGMENT) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 ? Number(isSingle) : 1 << sizeFlag;
  const dictionaryBytes = DICTIONARY_BYTES[descriptor & DICTIONARY] ?? 0;
  const dictionaryAt = at + 5 + Number(!isSingle);
  const sizeAt = dictionaryAt + dictionaryBytes;
  const blocks = sizeAt + sizeBytes;
  if (blocks > bytes.length) return 'cut';
  const window = isSingle ? windowOf(contentSize(bytes, sizeAt, sizeBytes)) : (bytes[at + 5] ?? 0);
  return { descriptor, window, dictionary: bytes.subarray(dictionaryAt, sizeAt), blocks };
}

function contentSize(bytes: Buffer, at: number, sizeBytes: number): number {
  if (sizeBytes === 8) return Number(bytes.readBigUInt64LE(at));
  // Two bytes begin where one ends.
  return bytes.readUIntLE(at, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
}

/** The smallest window that holds all of it. */
function windowOf(size: number): number {
  const log = Math.min(WINDOW_LOG_MAX, Math.max(WINDOW_LOG_MIN, Math.ceil(Math.log2(Math.max(1, size)))));
  return (log - WINDOW_LOG_MIN) << 3;
}

interface Blocks {
  /** Where the frame ends; null when it was cut. */
  readonly end: number | null;
  /** Where the last block that came whole ends, and where it begins; -1 when there is none. */
  readonly ended: number;
  readonly last: number;
  readonly bytesMax: number;
}

function blocksOf(bytes: Buffer, { blocks, descriptor }: Header): Blocks | null {
  let [at, last, bytesMax] = [blocks, -1, 0];
  for (;;) {
    const cut: Blocks = { end: null, ended: at, last, bytesMax };
    if (at + BLOCK_HEADER_BYTES > bytes.length) return cut;
    const header = bytes.readUIntLE(at, BLOCK_HEADER_BYTES);
    const [kind, size] = [(header >> 1) & 3, header >> 3];
    if (kind === 3 || size > BLOCK_BYTES_MAX) return null;
    const end = at + BLOCK_HEADER_BYTES + (kind === 1 ? 1 : size);
    if (end > bytes.length) return cut;
    bytesMax += kind === 2 ? BLOCK_BYTES_MAX : size;
    [last, at] = [at, end];
    if ((header & 1) === 0) continue;
    const after = end + ((descriptor & CHECKSUM) === 0 ? 0 : CHECKSUM_BYTES);
    return { end: after > bytes.length ? null : after, ended: end, last, bytesMax };
  }
}

/** The blocks that came, as a frame that says neither how long it is nor a checksum. */
function closedFrame(
  bytes: Buffer,
  { window, dictionary, descriptor, blocks }: Header,
  found: Blocks,
): Buffer {
  const head = Buffer.alloc(6);
  head.writeUInt32LE(MAGIC, 0);
  head[4] = descriptor & DICTIONARY;
  head[5] = window;
  const body = Buffer.from(bytes.subarray(blocks, found.ended));
  const last = found.last - blocks;
  body[last] = (body[last] ?? 0) | 1;
  return Buffer.concat([head, dictionary, body]);
}
