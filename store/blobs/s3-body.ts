/**
 * What an upload sends: counted and hashed while it is read.
 * Owns that the error of a source is kept, since a client wraps it in words of its own.
 */
import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';

export interface Measured {
  readonly hash: Hash;
  bytes: number;
  /** What the source threw; null while it has not. */
  failed: unknown;
}

export const measured = (): Measured => ({ hash: createHash('sha256'), bytes: 0, failed: null });

export function bodyOf(
  content: AsyncIterable<Uint8Array> | Uint8Array,
  written: Measured,
): Uint8Array | Readable {
  if (content instanceof Uint8Array) {
    count(content, written);
    return content;
  }
  return Readable.from(counted(content, written), { objectMode: false });
}

function count(chunk: Uint8Array, written: Measured): void {
  written.hash.update(chunk);
  written.bytes += chunk.byteLength;
}

/** Only what its source throws is kept: an upload that is given up ends it with an error of its own. */
async function* counted(content: AsyncIterable<Uint8Array>, written: Measured): AsyncGenerator<Uint8Array> {
  const source = content[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await source.next().catch((error: unknown) => {
        written.failed = error;
        throw error;
      });
      if (next.done === true) return;
      count(next.value, written);
      yield next.value;
    }
  } finally {
    await source.return?.();
  }
}
