/**
 * Texts of users and agents, cut to what an engine or a server takes of them.
 * Owns the cut: by UTF-8 bytes, never inside a character, with a mark where something is left out. The whole text is in
 * the store; who shortens one must not write the short one there.
 */

/** Stands where the rest was; three bytes. */
export const MARK = '…';
const MARK_BYTES = 3;

/** `"`, `\` and the control characters that JSON has a letter for. */
const ESCAPED_IN_TWO = /["\\\b\f\n\r\t]/;

/** Bytes of the text in UTF-8; half of a pair that has lost the other counts as the three bytes that stand for it. */
export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (const character of text) bytes += bytesOf(character);
  return bytes;
}

/** Bytes of the text as JSON writes it, with its quotes. */
export function jsonBytes(text: string): number {
  let bytes = 2;
  for (const character of text) bytes += jsonBytesOf(character);
  return bytes;
}

/** The text itself when it has at most so many bytes, else its beginning and a mark, together at most so many. */
export function shortened(text: string, bytesMax: number): string {
  // No character is of less than one byte, and none of more than three for each unit.
  if (text.length * 3 <= bytesMax) return text;
  const isCut = bytesMax < MARK_BYTES;
  let bytes = 0;
  let end = 0;
  let cut = 0;
  for (const character of text) {
    bytes += bytesOf(character);
    if (bytes > bytesMax) return isCut ? text.slice(0, end) : text.slice(0, cut) + MARK;
    end += character.length;
    if (bytes <= bytesMax - MARK_BYTES) cut = end;
  }
  return text;
}

export interface ListBounds {
  /** UTF-8 bytes of one text. */
  readonly itemBytesMax: number;
  /** Bytes of the whole list as JSON writes it. */
  readonly jsonBytesMax: number;
}

/** Shorter ones would say nothing: where not even these fit, texts at the end are left out. */
const LISTED_BYTES_MIN = 16;
/** `[` and `]`; and the comma behind each text, of which the last has none. */
const BRACKETS = 2;
const COMMA = 1;

/** The texts, in their order and each once, so that the list fits. The long ones give way first, to the same length. */
export function shortenedList(texts: readonly string[], bounds: ListBounds): readonly string[] {
  const { itemBytesMax, jsonBytesMax } = bounds;
  const listed = (bytesMax: number): readonly string[] => [
    ...new Set(texts.map((text) => shortened(text, bytesMax))),
  ];
  let low = Math.min(LISTED_BYTES_MIN, itemBytesMax);
  let high = itemBytesMax;
  if (fits(listed(high), jsonBytesMax)) return listed(high);
  // The list grows with the length of what is in it, give or take two texts that become the same.
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(listed(middle), jsonBytesMax)) low = middle;
    else high = middle;
  }
  const found = [...listed(low)];
  while (found.length > 0 && !fits(found, jsonBytesMax)) found.pop();
  return found;
}

function fits(texts: readonly string[], jsonBytesMax: number): boolean {
  return texts.reduce((sum, text) => sum + jsonBytes(text) + COMMA, BRACKETS) <= jsonBytesMax;
}

function bytesOf(character: string): number {
  const point = character.codePointAt(0) ?? 0;
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

function jsonBytesOf(character: string): number {
  if (ESCAPED_IN_TWO.test(character)) return 2;
  const point = character.codePointAt(0) ?? 0;
  const isLone = point >= 0xd800 && point <= 0xdfff;
  return point < 0x20 || isLone ? '\\u0000'.length : bytesOf(character);
}
