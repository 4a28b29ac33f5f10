/**
 * Server-sent events as byte frames.
 * Owns finding their borders for any split of the bytes; must not interpret or copy them needlessly.
 */
import { parsedJson } from '../../core/text/parsed-json.ts';
import { FRAME_BYTES_MAX } from '../limits.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const NOTHING: Buffer = Buffer.alloc(0);
const BLANK_LINE = Buffer.from('\n\n');

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
  if (!bytes.includes(CARRIAGE_RETURN)) {
    const at = bytes.lastIndexOf(BLANK_LINE);
    return at < 0 ? 0 : at + BLANK_LINE.length;
  }
  for (let end = bytes.length; end >= 2; end -= 1) if (endsFrame(bytes, end)) return end;
  return 0;
}

/** One past the blank line that ends the frame which begins at `from`; -1 when it is not there. */
function frameEnd(bytes: Buffer, from: number): number {
  const at = bytes.indexOf(BLANK_LINE, from);
  const plainEnd = at < 0 ? -1 : at + BLANK_LINE.length;
  if (!bytes.subarray(from, at < 0 ? bytes.length : plainEnd).includes(CARRIAGE_RETURN)) return plainEnd;
  for (let end = from + 2; end <= bytes.length; end += 1) if (endsFrame(bytes, end)) return end;
  return -1;
}

/**
 * Whether the bytes before `end` are a line end and a blank line, in any of the three forms of line end. Only the next
 * byte distinguishes a carriage return after a line feed from the first half of "\r\n".
 */
function endsFrame(bytes: Buffer, end: number): boolean {
  const [before, last] = [bytes[end - 2], bytes[end - 1]];
  if (last === LINE_FEED)
    return before === LINE_FEED || (before === CARRIAGE_RETURN && bytes[end - 3] === LINE_FEED);
  if (last !== CARRIAGE_RETURN) return false;
  if (before === CARRIAGE_RETURN) return true;
  return before === LINE_FEED && end < bytes.length && bytes[end] !== LINE_FEED;
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

/** The stream may begin with a byte order mark. */
function dataOf(text: string): string | null {
  const line = text.startsWith('\uFEFF') ? text.slice(1) : text;
  return line.startsWith('data:') ? line.slice(line[5] === ' ' ? 6 : 5) : null;
}

/** The frame's data as JSON; undefined when it has none that parses. */
export function frameJson(frame: Buffer): unknown {
  const data = frameData(frame);
  return data === null ? undefined : parsedJson(data);
}
