/**
 * Server-sent events as byte frames.
 * Owns finding their borders however the bytes were split; must not interpret or copy them needlessly.
 */
import { parseJson } from './json-value.ts';
import { FRAME_BYTES_MAX } from './limits.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const NOTHING: Buffer = Buffer.alloc(0);
const BLANK_LINE = Buffer.from('\n\n');
/** The end of "\r\n\r\n"; its first line feed may follow either kind of line. */
const BLANK_LINE_CR = Buffer.from('\n\r\n');

/** Holds back what is not yet a whole frame. What it gives out, joined, is the stream. */
export class FrameSplitter {
  private rest: Buffer = NOTHING;

  /** The frames that became complete, in one piece. Text without a blank line for too long comes out as it is. */
  push(chunk: Buffer): Buffer {
    const bytes = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    const end = lastFrameEnd(bytes);
    if (bytes.length - end > FRAME_BYTES_MAX) {
      this.rest = NOTHING;
      return bytes;
    }
    // Mostly a chunk is whole frames: then nothing is cut.
    this.rest = end === bytes.length ? NOTHING : bytes.subarray(end);
    return end === bytes.length ? bytes : bytes.subarray(0, end);
  }

  /** What is left when the stream has ended: a frame without its blank line, or nothing. */
  flush(): Buffer {
    const { rest } = this;
    this.rest = NOTHING;
    return rest;
  }
}

/** The first frame of the bytes, or all of them when it does not end. */
export function firstFrame(bytes: Buffer): Buffer {
  const end = frameEnd(bytes, 0);
  return end < 0 ? bytes : bytes.subarray(0, end);
}

/** Cuts after each blank line; the frames, joined, are the bytes. */
export function cutFrames(bytes: Buffer): readonly Buffer[] {
  const frames: Buffer[] = [];
  let start = 0;
  for (let end = frameEnd(bytes, 0); end >= 0; end = frameEnd(bytes, start)) {
    frames.push(bytes.subarray(start, end));
    start = end;
  }
  if (start < bytes.length) frames.push(bytes.subarray(start));
  return frames;
}

/** One past the last blank line; 0 when there is none. */
export function lastFrameEnd(bytes: Buffer): number {
  const [plain, other] = [bytes.lastIndexOf(BLANK_LINE), bytes.lastIndexOf(BLANK_LINE_CR)];
  return Math.max(plain < 0 ? 0 : plain + BLANK_LINE.length, other < 0 ? 0 : other + BLANK_LINE_CR.length);
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
  // Nearly every frame is one line of data.
  if (frame.indexOf(LINE_FEED) === frame.length - BLANK_LINE.length && !frame.includes(CARRIAGE_RETURN))
    return dataOf(frame.toString('utf8', 0, frame.length - BLANK_LINE.length));
  for (const line of frame.toString('utf8').split(/\r\n|\n|\r/)) {
    const data = dataOf(line);
    if (data !== null) lines.push(data);
  }
  return lines.length === 0 ? null : lines.join('\n');
}

function dataOf(line: string): string | null {
  return line.startsWith('data:') ? line.slice(line[5] === ' ' ? 6 : 5) : null;
}

/** The frame's data as JSON; undefined when it has none that parses. */
export function frameJson(frame: Buffer): unknown {
  const data = frameData(frame);
  return data === null ? undefined : parseJson(data);
}
