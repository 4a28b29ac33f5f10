/**
 * Finds the positions of the top-level members of a JSON object without parsing it.
 * Owns a scanner over bytes, which come in chunks cut anywhere; must not change them. Anything it does not understand
 * is null: the caller parses instead.
 */
import { TextWalk } from './json-text-walk.ts';

/** One top-level member: offsets into the body. */
export interface Member {
  readonly keyStart: number;
  readonly valueStart: number;
  /** One past the value's last byte. */
  readonly valueEnd: number;
  /** The comma before it; -1 for the first member. */
  readonly commaBefore: number;
  /** Start of the next member's key; -1 for the last member. */
  readonly nextKeyStart: number;
}

export interface TopLevel {
  /** The opening brace. */
  readonly start: number;
  readonly members: ReadonlyMap<string, Member>;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const SPACE = 0x20;

/** No wanted key is longer than this. */
const KEY_BYTES_MAX = 64;

/**
 * The members named in `wanted`; null when the body is no plain object, or names one of them twice or in escapes.
 * Nested values are only skipped: a fault inside them is not noticed here; the gateway refuses it.
 */
export function scanTopLevel(chunks: readonly Buffer[], wanted: ReadonlySet<string>): TopLevel | null {
  const scan = new Scan(wanted);
  for (const chunk of chunks) if (!scan.push(chunk)) return null;
  return scan.end();
}

/** A JSON string cannot contain one of them literally. */
// eslint-disable-next-line no-control-regex -- these characters are searched
export const ESCAPE_OR_CONTROL = /[\\\u0000-\u001f]/;

/** What the next byte belongs to. White space may come before those from 'object' to 'behind object'. */
type Place =
  | 'object'
  | 'first key'
  | 'next key'
  | 'colon'
  | 'value'
  | 'behind value'
  | 'behind object'
  | 'key'
  | 'text'
  | 'nested'
  | 'scalar'
  | 'fault';

class Scan {
  private readonly wanted: ReadonlySet<string>;
  private readonly members = new Map<string, Member>();
  private place: Place = 'object';
  /** Bytes of the chunks before this one. */
  private before = 0;
  private start = 0;
  private key = '';
  private keyStart = 0;
  private valueStart = 0;
  private valueEnd = 0;
  private comma = -1;
  /** The last member, when it is wanted: its `nextKeyStart` is not known yet. */
  private last: { nextKeyStart: number } | null = null;
  /** Of braces and brackets inside a value. */
  private depth = 0;
  private readonly walk = new TextWalk();

  constructor(wanted: ReadonlySet<string>) {
    this.wanted = wanted;
  }

  /** False once the body cannot be scanned: the caller parses it instead. */
  push(chunk: Buffer): boolean {
    for (let i = 0; i < chunk.length;) {
      switch (this.place) {
        case 'key':
          i = this.inKey(chunk, i);
          break;
        case 'text':
          i = this.inText(chunk, i);
          break;
        case 'nested':
          i = this.inNested(chunk, i);
          break;
        case 'scalar':
          i = this.inScalar(chunk, i);
          break;
        case 'fault':
          return false;
        default:
          if (!isSpace(chunk[i])) this.mark(chunk[i], this.before + i);
          i += 1;
      }
    }
    this.before += chunk.length;
    return this.place !== 'fault';
  }

  end(): TopLevel | null {
    return this.place === 'behind object' ? { start: this.start, members: this.members } : null;
  }

  /** A byte of the object itself. */
  private mark(byte: number | undefined, at: number): void {
    switch (this.place) {
      case 'object':
        this.start = at;
        this.place = byte === OPEN_BRACE ? 'first key' : 'fault';
        return;
      case 'first key':
        if (byte === CLOSE_BRACE) this.place = 'behind object';
        else this.openKey(byte, at);
        return;
      case 'next key':
        this.openKey(byte, at);
        return;
      case 'colon':
        this.place = byte === COLON ? 'value' : 'fault';
        return;
      case 'value':
        this.openValue(byte, at);
        return;
      case 'behind value':
        this.closeMember(byte, at);
        return;
      default:
        this.place = 'fault';
    }
  }

  private openKey(byte: number | undefined, at: number): void {
    if (this.last !== null) this.last.nextKeyStart = at;
    this.keyStart = at;
    this.key = '';
    this.place = byte === QUOTE ? 'key' : 'fault';
  }

  private openValue(byte: number | undefined, at: number): void {
    this.valueStart = at;
    this.depth = 0;
    if (byte === QUOTE) {
      this.walk.begin();
      this.place = 'text';
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      this.depth = 1;
      this.place = 'nested';
    } else {
      this.valueEnd = at + 1;
      this.place = endsScalar(byte) ? 'fault' : 'scalar';
    }
  }

  private closeMember(byte: number | undefined, at: number): void {
    this.place = byte === COMMA ? 'next key' : byte === CLOSE_BRACE ? 'behind object' : 'fault';
    this.last = null;
    if (this.wanted.has(this.key)) {
      if (this.members.has(this.key)) this.place = 'fault';
      const { keyStart, valueStart, valueEnd } = this;
      const member = { keyStart, valueStart, valueEnd, commaBefore: this.comma, nextKeyStart: -1 };
      this.members.set(this.key, member);
      this.last = member;
    }
    this.comma = at;
  }

  /** A key with an escape may spell any name, and one with a control character is no JSON. */
  private inKey(chunk: Buffer, from: number): number {
    for (let i = from; i < chunk.length; i += 1) {
      const byte = chunk[i] ?? 0;
      if (byte === QUOTE) {
        this.addToKey(chunk, from, i);
        this.place = 'colon';
        return i + 1;
      }
      if (byte === BACKSLASH || byte < SPACE) {
        this.place = 'fault';
        return i;
      }
    }
    this.addToKey(chunk, from, chunk.length);
    return chunk.length;
  }

  private addToKey(chunk: Buffer, from: number, to: number): void {
    if (this.key.length + to - from <= KEY_BYTES_MAX) this.key += chunk.toString('latin1', from, to);
    // Too long to be one of the wanted keys.
    else this.key = ''.padEnd(KEY_BYTES_MAX);
  }

  private inText(chunk: Buffer, from: number): number {
    const after = this.walk.skip(chunk, from);
    if (after < 0) return chunk.length;
    this.valueEnd = this.before + after;
    this.place = this.depth === 0 ? 'behind value' : 'nested';
    return after;
  }

  private inNested(chunk: Buffer, from: number): number {
    let { depth } = this;
    for (let i = from; i < chunk.length;) {
      const byte = chunk[i];
      i += 1;
      if (byte === QUOTE) {
        this.walk.begin();
        i = this.walk.skip(chunk, i);
        if (i < 0) {
          this.depth = depth;
          this.place = 'text';
          return chunk.length;
        }
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        depth -= 1;
        if (depth > 0) continue;
        this.valueEnd = this.before + i;
        this.place = 'behind value';
        return i;
      }
    }
    this.depth = depth;
    return chunk.length;
  }

  private inScalar(chunk: Buffer, from: number): number {
    let i = from;
    while (i < chunk.length && !endsScalar(chunk[i])) i += 1;
    this.valueEnd = this.before + i;
    if (i < chunk.length) this.place = 'behind value';
    return i;
  }
}

function endsScalar(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || isSpace(byte);
}

function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
