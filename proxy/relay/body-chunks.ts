/**
 * A body as it arrived: chunks cut anywhere, read and edited by offsets into the whole.
 * Owns the offsets; must not know what the bytes say. A long body is never copied, only cut into more pieces.
 */

export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Copying costs less than a write for each piece up to here; beyond it, memory that comes and goes costs far more. */
const JOINED_BYTES_MAX = 64 * 1024;

/** What is sent: one buffer or several, in order. */
export type SentBody = Buffer | readonly Buffer[];

export class BodyChunks {
  readonly chunks: readonly Buffer[];
  readonly length: number;

  constructor(chunks: readonly Buffer[]) {
    this.chunks = chunks;
    this.length = lengthOf(chunks);
  }

  /** `end` is one past the last byte. */
  text(start: number, end: number): string {
    const [first] = this.chunks;
    if (first !== undefined && end <= first.length) return first.toString('utf8', start, end);
    return joined(this.pieces(start, end)).toString('utf8');
  }

  /** All of it. */
  bytes(): Buffer {
    return joined(this.chunks);
  }

  /** With the edits made, which come in order and do not overlap. */
  edited(edits: readonly Edit[]): SentBody {
    return this.length <= JOINED_BYTES_MAX ? spliced(this.bytes(), edits) : this.cut(edits);
  }

  private cut(edits: readonly Edit[]): readonly Buffer[] {
    const pieces: Buffer[] = [];
    let read = 0;
    for (const { start, end, text } of edits) {
      pieces.push(...this.pieces(read, start));
      if (text !== '') pieces.push(Buffer.from(text));
      read = end;
    }
    pieces.push(...this.pieces(read, this.length));
    return pieces;
  }

  private pieces(start: number, end: number): readonly Buffer[] {
    const pieces: Buffer[] = [];
    let before = 0;
    for (const chunk of this.chunks) {
      const [from, to] = [Math.max(0, start - before), Math.min(chunk.length, end - before)];
      if (from < to) pieces.push(chunk.subarray(from, to));
      before += chunk.length;
    }
    return pieces;
  }
}

function spliced(body: Buffer, edits: readonly Edit[]): Buffer {
  let { length } = body;
  for (const { start, end, text } of edits) length += Buffer.byteLength(text) - (end - start);
  const bytes = Buffer.allocUnsafe(length);
  let [read, written] = [0, 0];
  for (const { start, end, text } of edits) {
    written += body.copy(bytes, written, read, start);
    written += bytes.write(text, written);
    read = end;
  }
  body.copy(bytes, written, read);
  return bytes;
}

/** In bytes. */
export function sentLength(body: SentBody): number {
  return Buffer.isBuffer(body) ? body.length : lengthOf(body);
}

function lengthOf(chunks: readonly Buffer[]): number {
  let length = 0;
  for (const chunk of chunks) length += chunk.length;
  return length;
}

export function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}
