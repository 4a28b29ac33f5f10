/**
 * Bodies that a gateway codes although no request allows it.
 * Owns decoding them within a bound; what is passed on is not its business.
 */
import * as zlib from 'node:zlib';
import { walkFrames } from './zstd-frames.ts';

/** What a request says so that an answer comes as it is. */
export const ACCEPT_CODING = 'identity';

export interface CodedBody {
  readonly bytes: Buffer;
  /** The header `content-encoding`, one coding or several; null for none. */
  readonly coding: string | readonly string[] | null | undefined;
  /** Of the decoded body: a few bytes may stand for any number of them. */
  readonly bytesMax: number;
  /** Without it, the beginning of a body is decoded as far as it says something. */
  readonly mustBeWhole?: boolean;
}

/** What the decoder of Node 20 may hold: its memory ends at 2 GiB, and it would write over its own beyond. */
const PORTABLE_BYTES_MAX = 512 * 1024 * 1024;
/** More than one is rare, and more than these only cost time. */
const CODINGS_MAX = 4;

/** Whether the header says that the body is anything but plain. */
export function isCoded(coding: CodedBody['coding']): boolean {
  return codingsOf(coding).length > 0;
}

/**
 * The plain body, or as much of it as the beginning of a body says. Null when it cannot be read: an unknown
 * coding, a broken body, or one beyond the bound.
 */
export function decodedBody({ bytes, coding, bytesMax, mustBeWhole = false }: CodedBody): Buffer | null {
  const codings = codingsOf(coding);
  if (codings.length > CODINGS_MAX) return null;
  let body = bytes;
  // The last one named was the last one applied.
  for (const name of codings.toReversed()) {
    const decode = DECODERS.get(name);
    if (decode === undefined) return null;
    try {
      body = decode(body, { bytesMax, mustBeWhole });
    } catch {
      return null;
    }
  }
  return body;
}

function codingsOf(coding: CodedBody['coding']): readonly string[] {
  const text = typeof coding === 'string' ? coding : (coding ?? []).join(',');
  return text
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
}

type Bounds = Required<Pick<CodedBody, 'bytesMax' | 'mustBeWhole'>>;
type Decode = (bytes: Buffer, bounds: Bounds) => Buffer;

/** With the others, what was flushed so far is given out, and an end that is missing is no error. */
const { Z_FINISH, Z_SYNC_FLUSH, BROTLI_OPERATION_FINISH, BROTLI_OPERATION_FLUSH } = zlib.constants;

function deflateOptions({ bytesMax, mustBeWhole }: Bounds): zlib.ZlibOptions {
  return { maxOutputLength: bytesMax, finishFlush: mustBeWhole ? Z_FINISH : Z_SYNC_FLUSH };
}

const gunzip: Decode = (bytes, bounds) => zlib.gunzipSync(bytes, deflateOptions(bounds));

/** Some servers leave out the two bytes that the standard puts before it. */
const inflate: Decode = (bytes, bounds) => {
  const isBare = bytes.length >= 2 && (((bytes[0] ?? 0) & 0x0f) !== 8 || bytes.readUInt16BE(0) % 31 !== 0);
  return (isBare ? zlib.inflateRawSync : zlib.inflateSync)(bytes, deflateOptions(bounds));
};

const brotli: Decode = (bytes, { bytesMax, mustBeWhole }) =>
  zlib.brotliDecompressSync(bytes, {
    maxOutputLength: bytesMax,
    finishFlush: mustBeWhole ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_FLUSH,
  });

/** Node has it from 22.15 on. */
interface Zstd {
  readonly zstdDecompressSync?: (bytes: Buffer, options: object) => Buffer;
  readonly constants: { readonly ZSTD_e_end?: number; readonly ZSTD_e_flush?: number };
}

const { zstdDecompressSync, constants } = zlib as unknown as Zstd;

type DecodeFrames = (bytes: Uint8Array, plainBytesMax: number) => Uint8Array;

/** Until `readyCodings`, and where Node has its own. */
let decodeFrames: DecodeFrames | null = null;
let loading: Promise<void> | null = null;

/** Before the first body is read: what Node does not have is loaded. */
export function readyCodings(): Promise<void> {
  if (zstdDecompressSync !== undefined) return Promise.resolve();
  loading ??= loadZstd();
  return loading;
}

async function loadZstd(): Promise<void> {
  const { ZSTDDecoder } = await import('zstddec');
  const decoder = new ZSTDDecoder();
  await decoder.init();
  decodeFrames = (bytes, plainBytesMax) => decoder.decode(bytes, plainBytesMax);
}

const zstd: Decode = (bytes, { bytesMax, mustBeWhole }) => {
  if (zstdDecompressSync === undefined) return portableZstd(bytes, { bytesMax, mustBeWhole });
  return zstdDecompressSync(bytes, {
    maxOutputLength: bytesMax,
    finishFlush: mustBeWhole ? constants.ZSTD_e_end : constants.ZSTD_e_flush,
  });
};

/** It takes whole frames alone, into as many bytes as it is given, and answers nothing for what is broken or longer. */
const portableZstd: Decode = (bytes, { bytesMax, mustBeWhole }) => {
  const frames = walkFrames(bytes);
  if (decodeFrames === null || frames === null || (mustBeWhole && !frames.isWhole))
    throw new Error('Cannot decode the body: it is no whole zstd, or its decoder is not loaded');
  const plainBytesMax = Math.min(bytesMax, frames.plainBytesMax);
  if (plainBytesMax === 0) return Buffer.alloc(0);
  if (bytes.length + plainBytesMax > PORTABLE_BYTES_MAX)
    throw new Error('Cannot decode the body: it is too large');
  const plain = decodeFrames(frames.bytes, plainBytesMax);
  if (plain.length === 0) throw new Error('Cannot decode the body: it is broken, or too large');
  return Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength);
};

const DECODERS: ReadonlyMap<string, Decode> = new Map([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  ['br', brotli],
  ['zstd', zstd],
]);
