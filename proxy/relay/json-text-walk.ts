/**
 * The way through a text of JSON to its closing quote, over chunks cut anywhere.
 * Owns what is escaped; must not know what the text is part of. A text is walked as long as escapes are near, because a
 * call into the native search costs more than a few steps; a stretch without any, as of an image, is searched.
 */
import { endianness } from 'node:os';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Texts shorter than this are walked only. */
const WALKED_BYTES = 24;
/** Where one quote is escaped, as in code, the next is near. */
const WALKED_AFTER_ESCAPE_BYTES = 4_096;
/** Shorter stretches are walked byte by byte, and so are all where the first byte of a word is not its lowest. */
const WORDS_FROM_BYTES = endianness() === 'LE' ? 128 : Infinity;

export class TextWalk {
  /** 1 where the chunk before ended between a backslash and what it escapes. */
  private escaped = 0;
  /** So many bytes are walked before the rest is searched. */
  private walked = 0;
  private words: Words | null = null;

  begin(): void {
    this.walked = WALKED_BYTES;
  }

  /**
   * `from` is behind the opening quote, or where a chunk goes on. Returns one past the closing quote, or -1 when the
   * chunk ends before it.
   */
  skip(chunk: Buffer, from: number): number {
    const end = chunk.length;
    let i = from + this.escaped;
    this.escaped = 0;
    for (;;) {
      i = this.walk(chunk, i, Math.min(end, i + this.walked));
      if (i < 0) return -i;
      if (i >= end) {
        this.escaped = i - end;
        return -1;
      }
      const quote = chunk.indexOf(QUOTE, i);
      const isEscaped = endsInEscape(chunk, i, quote < 0 ? end : quote);
      if (quote < 0) {
        this.escaped = isEscaped ? 1 : 0;
        this.walked = 0;
        return -1;
      }
      if (!isEscaped) return quote + 1;
      i = quote + 1;
      this.walked = WALKED_AFTER_ESCAPE_BYTES;
    }
  }

  /** Returns where it came to, `to` or one past an escape there; or, as a negative number, one past the closing quote. */
  private walk(chunk: Buffer, from: number, to: number): number {
    if (to - from < WORDS_FROM_BYTES) return walkBytes(chunk, from, to);
    if (this.words?.chunk !== chunk) this.words = new Words(chunk);
    return this.words.walk(from, to);
  }
}

/** As `TextWalk.walk`. */
function walkBytes(chunk: Buffer, from: number, to: number): number {
  let i = from;
  while (i < to) {
    const byte = chunk[i] ?? 0;
    // Small letters are most of any text: one comparison decides for them.
    if (byte > BACKSLASH) i += 1;
    else if (byte === QUOTE) return -i - 1;
    else i += byte === BACKSLASH ? 2 : 1;
  }
  return i;
}

const QUOTES = 0x22222222;
const BACKSLASHES = 0x5c5c5c5c;
const LOW_BITS = 0x7f7f7f7f;

/**
 * A chunk as words of four bytes, so that what most escapes are costs no branch that is mispredicted: in a set of bytes,
 * the highest bit of each says whether it is one, and the byte behind a backslash is the next higher one.
 */
class Words {
  readonly chunk: Buffer;
  private readonly words: Int32Array;
  /** Bytes before the first word. */
  private readonly offset: number;

  constructor(chunk: Buffer) {
    this.chunk = chunk;
    this.offset = -chunk.byteOffset & 3;
    this.words = new Int32Array(
      chunk.buffer,
      chunk.byteOffset + this.offset,
      (chunk.length - this.offset) >> 2,
    );
  }

  /** As `TextWalk.walk`. */
  walk(from: number, to: number): number {
    const { chunk, words, offset } = this;
    // What is read from the module may be any number to V8, which then adds doubles; `| 0` says that it is a word.
    const low = LOW_BITS | 0;
    const quote = QUOTES | 0;
    const backslash = BACKSLASHES | 0;
    const first = (from - offset + 3) >> 2;
    const start = walkBytes(chunk, from, offset + (first << 2));
    if (start < 0) return start;
    const end = (to - offset) >> 2;
    // The highest bit of the lowest byte: an escape reaches into the next word.
    let carry = start > offset + (first << 2) ? 0x80 : 0;
    for (let i = first; i < end; i += 1) {
      const word = (words[i] ?? 0) | 0;
      // The set of the bytes that are 0, written out twice: called for it, V8 makes these sums ones of doubles.
      const b = word ^ backslash;
      const backslashes = ~(((b & low) + low) | b | low);
      const escaped = (backslashes << 8) | carry;
      const at = offset + (i << 2);
      if ((backslashes & escaped) !== 0) {
        // Which of several in a row escape is decided one by one.
        const next = walkBytes(chunk, carry === 0 ? at : at + 1, at + 4);
        if (next < 0) return next;
        carry = next > at + 4 ? 0x80 : 0;
        continue;
      }
      const q = word ^ quote;
      const quotes = ~(((q & low) + low) | q | low) & ~escaped;
      if (quotes !== 0) return -(at + lowestByte(quotes) + 1);
      carry = backslashes >>> 24;
    }
    return walkBytes(chunk, offset + (end << 2) + (carry === 0 ? 0 : 1), to);
  }
}

function lowestByte(set: number): number {
  return (31 - Math.clz32(set & -set)) >> 3;
}

/** Whether the byte at `at` is escaped, in a text of which `from` is not. */
function endsInEscape(chunk: Buffer, from: number, at: number): boolean {
  let run = at - 1;
  while (run >= from && chunk[run] === BACKSLASH) run -= 1;
  return (at - 1 - run) % 2 === 1;
}
