/**
 * A directory as a gzipped tar, read from outside while whatever is inside may go on writing.
 * Owns streaming and the error at the border; must not know sandboxes.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { ParleyError } from '../../core/parley-error.ts';
import { walkTree } from './anchored-walk.ts';
import { tarMembers } from './tar-members.ts';

/**
 * Links are kept and never followed; special files are left out; what cannot be read is named in the member
 * `.parley-export-notes.txt`. Reads only as fast as the caller takes the bytes.
 * @throws ParleyError workspace_unreadable: the directory itself cannot be read
 */
export async function* exportDirectory(directory: string): AsyncGenerator<Uint8Array> {
  const gzip = createGzip();
  const source = Readable.from(inPieces(tarMembers(walkTree(directory))), { objectMode: false });
  const copied = pipeline(source, gzip);
  // The loop below gets the same error; unread, this one would end the process.
  copied.catch(() => undefined);
  try {
    for await (const chunk of gzip) yield chunk as Uint8Array;
  } catch (error) {
    throw new ParleyError('workspace_unreadable', `Cannot export "${directory}": it cannot be read`, {
      cause: error,
    });
  }
}

const PIECE_BYTES = 64 * 1024;

/** Headers of small files together: each piece is a turn of the event loop, however short it is. */
async function* inPieces(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let [held, bytes]: [Uint8Array[], number] = [[], 0];
  for await (const part of parts) {
    held.push(part);
    bytes += part.length;
    if (bytes < PIECE_BYTES) continue;
    yield Buffer.concat(held);
    [held, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(held);
}
