/**
 * Where the top-level members of a JSON object stand, without parsing it.
 * Owns a scanner over bytes; must not change them. Anything it does not understand is null: the caller parses instead.
 */

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

/** Strings shorter than this are walked in place: a call into the native search costs more than it saves. */
const WALKED_BYTES = 24;
/** Where one quote is escaped, as in code, the next is near. */
const WALKED_AFTER_ESCAPE_BYTES = 4_096;
/** A key longer than this is none that anybody wants. */
const KEY_BYTES_MAX = 64;

/**
 * The members named in `wanted`; null when the body is no plain object, or names one of them twice or in escapes.
 * Nested values are only skipped: a fault inside them goes unseen and is the gateway's to refuse.
 */
export function scanTopLevel(body: Buffer, wanted: ReadonlySet<string>): TopLevel | null {
  const start = skipSpace(body, 0);
  if (body[start] !== OPEN_BRACE) return null;
  const members = new Map<string, Member>();
  let keyStart = skipSpace(body, start + 1);
  if (body[keyStart] === CLOSE_BRACE) return isOnlySpace(body, keyStart + 1) ? { start, members } : null;
  for (let commaBefore = -1; ;) {
    const keyEnd = skipString(body, keyStart);
    if (keyEnd < 0) return null;
    const colon = skipSpace(body, keyEnd);
    if (body[colon] !== COLON) return null;
    const valueStart = skipSpace(body, colon + 1);
    const valueEnd = skipValue(body, valueStart);
    if (valueEnd < 0) return null;
    const after = skipSpace(body, valueEnd);
    const isLast = body[after] === CLOSE_BRACE;
    if (!isLast && body[after] !== COMMA) return null;
    const nextKeyStart = isLast ? -1 : skipSpace(body, after + 1);
    const key = readKey(body, keyStart, keyEnd);
    if (key === null || members.has(key)) return null;
    if (wanted.has(key)) members.set(key, { keyStart, valueStart, valueEnd, commaBefore, nextKeyStart });
    if (isLast) return isOnlySpace(body, after + 1) ? { start, members } : null;
    commaBefore = after;
    keyStart = nextKeyStart;
  }
}

/** No text of JSON holds one as it is. */
// eslint-disable-next-line no-control-regex -- these characters are what is looked for
export const ESCAPE_OR_CONTROL = /[\\\u0000-\u001f]/;

/** The key's text, "" for one too long to matter; null when it may spell any name, or is no JSON. */
function readKey(body: Buffer, keyStart: number, keyEnd: number): string | null {
  if (keyEnd - keyStart > KEY_BYTES_MAX)
    return body.subarray(keyStart, keyEnd).includes(BACKSLASH) ? null : '';
  const key = body.toString('latin1', keyStart + 1, keyEnd - 1);
  return ESCAPE_OR_CONTROL.test(key) ? null : key;
}

/**
 * `at` is the opening quote. Returns one past the closing quote, or -1.
 * Text is walked as long as escapes are near, because a call into the native search costs more than a few steps; a
 * stretch without any, as of an image, is searched.
 */
function skipString(body: Buffer, at: number): number {
  if (body[at] !== QUOTE) return -1;
  let walkEnd = Math.min(body.length, at + 1 + WALKED_BYTES);
  for (let i = at + 1; ;) {
    while (i < walkEnd) {
      const byte = body[i] ?? 0;
      // Small letters are most of any text: one comparison decides for them.
      if (byte > BACKSLASH) i += 1;
      else if (byte === QUOTE) return i + 1;
      else i += byte === BACKSLASH ? 2 : 1;
    }
    const quote = body.indexOf(QUOTE, i);
    if (quote < 0) return -1;
    let run = quote - 1;
    while (run >= i && body[run] === BACKSLASH) run -= 1;
    if ((quote - 1 - run) % 2 === 0) return quote + 1;
    i = quote + 1;
    walkEnd = Math.min(body.length, i + WALKED_AFTER_ESCAPE_BYTES);
  }
}

/** Returns one past the value's last byte, or -1. */
function skipValue(body: Buffer, at: number): number {
  const first = body[at];
  if (first === QUOTE) return skipString(body, at);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(body, at);
  let i = at;
  while (i < body.length && !endsScalar(body[i])) i += 1;
  return i === at ? -1 : i;
}

function skipNested(body: Buffer, at: number): number {
  let depth = 0;
  for (let i = at; i < body.length;) {
    const byte = body[i];
    if (byte === QUOTE) {
      i = skipString(body, i);
      if (i < 0) return -1;
      continue;
    }
    i += 1;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return i;
    }
  }
  return -1;
}

function endsScalar(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || isSpace(byte);
}

function skipSpace(body: Buffer, at: number): number {
  let i = at;
  while (isSpace(body[i])) i += 1;
  return i;
}

function isOnlySpace(body: Buffer, from: number): boolean {
  return skipSpace(body, from) === body.length;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
