/**
 * What a reply is, by its first bytes: some gateways send JSON as a stream of events, and events as JSON.
 * Owns that look alone; must not read further.
 */

/** `page` is markup; `other` is what nothing can be said of. */
export type ReplyForm = 'events' | 'json' | 'page' | 'other';

/** Of the first bytes, so many say what it is. */
export const FORM_BYTES_MAX = 64;

const FIELDS = ['data', 'event', 'id', 'retry'].map((name) => `${name}:`);
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const LESS_THAN = 0x3c;

/** Null while the bytes may still become either. */
export function formOf(head: Buffer): ReplyForm | null {
  const start = firstByte(head);
  switch (head[start]) {
    case undefined:
      return head.length < FORM_BYTES_MAX ? null : 'other';
    case OPEN_BRACE:
    case OPEN_BRACKET:
      return 'json';
    case LESS_THAN:
      return 'page';
    // A comment, which keeps a connection alive.
    case COLON:
      return 'events';
    default:
      return formOfWord(head.toString('latin1', start, start + FIELDS_LENGTH_MAX));
  }
}

const FIELDS_LENGTH_MAX = Math.max(...FIELDS.map((field) => field.length));

function formOfWord(word: string): ReplyForm | null {
  if (FIELDS.some((field) => word.startsWith(field))) return 'events';
  return FIELDS.some((field) => field.startsWith(word)) ? null : 'other';
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** The first that is neither a space nor a byte order mark. */
function firstByte(bytes: Buffer): number {
  let at = BYTE_ORDER_MARK.every((byte, i) => bytes[i] === byte) ? BYTE_ORDER_MARK.length : 0;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) break;
  }
  return at;
}
