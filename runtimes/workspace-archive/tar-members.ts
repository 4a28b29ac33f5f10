/**
 * A walked tree as the bytes of a tar archive.
 * Owns headers, padding and the note about what could not be read; must not open anything itself.
 */
import type { FileHandle } from 'node:fs/promises';
import { Header, Pax, type HeaderData } from 'tar';
import type { WalkedEntry } from './anchored-walk.ts';

/** Last member of an archive in which something is missing: one `path: reason` a line. */
export const NOTES_MEMBER = '.parley-export-notes.txt';
const BLOCK_BYTES = 512;
const CHUNK_BYTES = 256 * 1024;
/** Notes beyond this are counted only. */
const NOTES_MAX = 1_000;
/**
 * Holes of sparse files, all together: a tar spells each of them out in zeros, so a few files of no size on disk would
 * take hours. A database or a disk image of ordinary size has less.
 */
const HOLE_BYTES_MAX = 4 * 1024 ** 3;

/** The bytes of an archive of these entries, piece by piece, with a note of what is missing at its end. */
export async function* tarMembers(
  entries: AsyncIterable<WalkedEntry>,
  holeBytesMax = HOLE_BYTES_MAX,
): AsyncGenerator<Uint8Array> {
  const notes: string[] = [];
  let [notesLost, holeBytes] = [0, 0];
  for await (const entry of entries) {
    const holes = holesIn(entry);
    const isTooMuch = holeBytes + holes > holeBytesMax;
    if (!isTooMuch) holeBytes += holes;
    const note = isTooMuch
      ? `${entry.path}: left out: ${holes} bytes of it are holes, and all holes together more than ${holeBytesMax}`
      : entry.kind === 'unreadable'
        ? `${entry.path}: ${entry.reason}`
        : yield* member(entry);
    if (note === null) continue;
    if (notes.length < NOTES_MAX) notes.push(note);
    else notesLost += 1;
  }
  if (notesLost > 0) notes.push(`and ${notesLost} more`);
  if (notes.length > 0) yield* notesMember(notes);
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

/** A file system that compresses takes a few times less for a file, too: only what takes far less is mostly holes. */
const SPARSE_FACTOR = 8;

function holesIn(entry: WalkedEntry): number {
  if (entry.kind !== 'file' || entry.blocksBytes * SPARSE_FACTOR >= entry.size) return 0;
  return entry.size - entry.blocksBytes;
}

/** Yields one member and returns a note when its content is not whole. */
async function* member(
  entry: Exclude<WalkedEntry, { kind: 'unreadable' }>,
): AsyncGenerator<Uint8Array, string | null> {
  switch (entry.kind) {
    case 'directory':
      yield* header({
        path: `${entry.path}/`,
        mode: entry.mode & 0o777,
        size: 0,
        mtime: entry.mtime,
        type: 'Directory',
      });
      return null;
    case 'link':
      yield* header({
        path: entry.path,
        linkpath: entry.target,
        mode: 0o777,
        size: 0,
        mtime: entry.mtime,
        type: 'SymbolicLink',
      });
      return null;
    case 'file': {
      const { path, size, mtime } = entry;
      yield* header({ path, mode: entry.mode & 0o777, size, mtime, type: 'File' });
      const whole = yield* content(entry.file, size);
      return whole ? null : `${path}: became shorter or unreadable while it was read; the rest is zeros`;
    }
    default:
      return entry satisfies never;
  }
}

/** Exactly `size` bytes, whatever happens to the file: the header has promised them. */
async function* content(file: FileHandle, size: number): AsyncGenerator<Uint8Array, boolean> {
  let position = 0;
  while (position < size) {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - position));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position).catch(() => ({ bytesRead: 0 }));
    if (bytesRead === 0) break;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
  const whole = position === size;
  for (; position < size; position += CHUNK_BYTES) yield Buffer.alloc(Math.min(CHUNK_BYTES, size - position));
  const rest = size % BLOCK_BYTES;
  if (rest > 0) yield Buffer.alloc(BLOCK_BYTES - rest);
  return whole;
}

function* header(data: HeaderData): Generator<Uint8Array> {
  const block = new Header(data);
  // A name, link or size that the old header cannot hold goes into an extended one before it.
  if (block.encode()) yield new Pax(data).encode();
  if (block.block !== undefined) yield block.block;
}

function* notesMember(notes: readonly string[]): Generator<Uint8Array> {
  const text = Buffer.from(`${notes.map((note) => note.replaceAll('\n', '?')).join('\n')}\n`);
  yield* header({ path: NOTES_MEMBER, mode: 0o644, size: text.length, mtime: new Date(0), type: 'File' });
  yield text;
  const rest = text.length % BLOCK_BYTES;
  if (rest > 0) yield Buffer.alloc(BLOCK_BYTES - rest);
}
