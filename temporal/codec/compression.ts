/**
 * Large payloads made smaller by gzip, before anything is encrypted: a server takes no payload over 2 MB, and the state
 * of a run of many items is several of them when it goes from one run of its workflow to the next.
 * Owns what is compressed, its mark, and the bound on what comes out; must not know a key.
 *
 * A compressed payload holds the whole payload, metadata included, in the layout of payload-bytes.ts.
 */
import { constants, gunzip, gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { Payload } from '@temporalio/common';
import { ParleyError } from '../../core/parley-error.ts';
import { encodingOf, METADATA } from './metadata.ts';
import { payloadFromBytes, payloadToBytes } from './payload-bytes.ts';

export const COMPRESSED_ENCODING = 'binary/gzip';

/** Below it a payload is far from every limit, and stays readable to people without a codec server. */
const COMPRESSED_FROM_BYTES = 8 * 1024;
/**
 * What one call opens at most, all payloads together: some ten times the largest run, and far from what hurts a process.
 * Two megabytes of gzip can open to two gigabytes. What is larger is not compressed either, so that nothing is written
 * that cannot be read.
 */
export const OPENED_BYTES_MAX = 64 * 1024 * 1024;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/**
 * Compressed when it is large and gains by it; otherwise as it is. A payload that bears the mark already is always
 * wrapped once more: a decoder takes off one layer, and must give back what the program had.
 */
export async function compressed(payload: Payload): Promise<Payload> {
  const mustWrap = isCompressed(payload);
  const size = payload.data?.length ?? 0;
  if (!mustWrap && (size < COMPRESSED_FROM_BYTES || size > OPENED_BYTES_MAX / 2)) return payload;
  const bytes = payloadToBytes(payload);
  const data = await compress(bytes, { level: constants.Z_DEFAULT_COMPRESSION });
  if (!mustWrap && data.length >= bytes.length) return payload;
  return { ...payload, metadata: { [METADATA.encoding]: Buffer.from(COMPRESSED_ENCODING) }, data };
}

/**
 * One after the other, so that the bound holds for all of them; what is not compressed stays as it is.
 * @throws ParleyError payload_unreadable
 */
export async function decompressed(payloads: readonly Payload[]): Promise<Payload[]> {
  const opened: Payload[] = [];
  let bytesLeft = OPENED_BYTES_MAX;
  for (const payload of payloads) {
    if (!isCompressed(payload)) {
      opened.push(payload);
      continue;
    }
    const bytes = await openedBytes(payload, bytesLeft);
    bytesLeft -= bytes.length;
    opened.push({ ...payload, ...partsOf(bytes) });
  }
  return opened;
}

export function isCompressed(payload: Payload): boolean {
  return encodingOf(payload) === COMPRESSED_ENCODING;
}

async function openedBytes(payload: Payload, bytesMax: number): Promise<Uint8Array> {
  if (bytesMax <= 0) throw tooLarge();
  try {
    return await decompress(payload.data ?? new Uint8Array(0), { maxOutputLength: bytesMax });
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE')
      throw tooLarge(cause);
    throw damaged(cause);
  }
}

function partsOf(bytes: Uint8Array) {
  try {
    return payloadFromBytes(bytes);
  } catch (cause) {
    throw damaged(cause);
  }
}

function tooLarge(cause?: unknown): ParleyError {
  return unreadable(`it opens to more than ${OPENED_BYTES_MAX} bytes, and nothing of ours does`, cause);
}

function damaged(cause: unknown): ParleyError {
  return unreadable('it was changed, or another program compressed it', cause);
}

function unreadable(problem: string, cause: unknown): ParleyError {
  return new ParleyError('payload_unreadable', `Cannot open a compressed payload: ${problem}`, { cause });
}
