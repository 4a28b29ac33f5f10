/**
 * UUIDs in the two spellings callers use. Both come in; hyphenated goes out, 32 hex digits name files and webhooks.
 */

const HEX_32 = /^[0-9a-f]{32}$/;
const HYPHENATED = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The hyphenated lower-case form of a UUID in either spelling, or null when the text is none. */
export function hyphenatedUuid(text: string): string | null {
  const lower = text.toLowerCase();
  if (HYPHENATED.test(lower)) return lower;
  if (!HEX_32.test(lower)) return null;
  const cut = (from: number, to: number): string => lower.slice(from, to);
  return [cut(0, 8), cut(8, 12), cut(12, 16), cut(16, 20), cut(20, 32)].join('-');
}

/** The 32 hex digits of a hyphenated UUID. */
export function hexOf(uuid: string): string {
  return uuid.replaceAll('-', '');
}
