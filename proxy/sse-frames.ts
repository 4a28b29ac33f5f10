/**
 * Server-sent events as byte frames.
 * Owns finding their borders however the bytes were split; must not interpret or copy them needlessly.
 */
import { parseJson } from './json-value.ts';
import { FRAME_BYTES_MAX } from './limits.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Cuts a byte stream after each blank line. The frames, joined, are the stream. */
export class FrameSplitter {
  private rest: Buffer = Buffer.alloc(0);
  /** Where the search for the end of `rest` goes on. */
  private searched = 0;

  /** The frames that became complete. Text without a blank line for too long comes out as it is. */
  push(chunk: Buffer): readonly Buffer[] {
    const bytes = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    const frames: Buffer[] = [];
    let start = 0;
    for (let from = this.searched; ;) {
      const end = frameEnd(bytes, from);
      if (end < 0) break;
      frames.push(bytes.subarray(start, end));
      start = end;
      from = end;
    }
    this.keep(bytes.subarray(start), frames);
    return frames;
  }

  /** What is left when the stream has ended: a frame without its blank line, or nothing. */
  flush(): Buffer {
    const rest = this.rest;
    this.rest = Buffer.alloc(0);
    this.searched = 0;
    return rest;
  }

  private keep(rest: Buffer, frames: Buffer[]): void {
    const isTooLong = rest.length > FRAME_BYTES_MAX;
    if (isTooLong) frames.push(rest);
    this.rest = isTooLong ? Buffer.alloc(0) : rest;
    // A border is at most three bytes long, so its first byte may be among the last two.
    this.searched = Math.max(0, this.rest.length - 2);
  }
}

/** One past the blank line that ends the frame: "\n\n" or "\n\r\n", the latter within "\r\n\r\n"; -1 when not there. */
function frameEnd(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(LINE_FEED, from); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) {
    const next = bytes[at + 1];
    if (next === LINE_FEED) return at + 2;
    if (next === CARRIAGE_RETURN && bytes[at + 2] === LINE_FEED) return at + 3;
  }
  return -1;
}

/** The frame's `data:` lines joined; null for a frame without any (a comment, a bare event name). */
export function frameData(frame: Buffer): string | null {
  const lines: string[] = [];
  for (const line of frame.toString('utf8').split(/\r\n|\n|\r/)) {
    if (line.startsWith('data:')) lines.push(line.slice(line[5] === ' ' ? 6 : 5));
  }
  return lines.length === 0 ? null : lines.join('\n');
}

/** The frame's data as JSON; undefined when it has none that parses. */
export function frameJson(frame: Buffer): unknown {
  const data = frameData(frame);
  return data === null ? undefined : parseJson(data);
}
