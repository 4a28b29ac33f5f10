/**
 * Values on their way into and out of columns.
 * Owns the exactness of integers and the spelling of foreign text; must not know a table.
 */
import { ParleyError } from '../../core/parley-error.ts';

/**
 * A 64-bit column as a number.
 * @throws ParleyError internal when a number cannot hold it exactly: a rounded amount is worse than none (D26)
 */
export function safeInteger(value: number | bigint | string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  const number = Number(value);
  if (!Number.isSafeInteger(number) || String(number) !== String(value)) {
    throw new ParleyError('internal', `Cannot read the stored number "${value}": not a safe integer`);
  }
  return number;
}

export function safeIntegerOrNull(value: number | bigint | string | null): number | null {
  return value === null ? null : safeInteger(value);
}

export function flag(value: boolean): 0 | 1 {
  return value ? 1 : 0;
}

/**
 * Text that others chose, in a column of its own: neither dialect keeps a NUL character, so it becomes U+FFFD,
 * like the half of a surrogate pair. JSON text needs none of this: JSON spells both as escapes.
 */
export function columnText(text: string): string {
  if (!NUL_OR_SURROGATE.test(text)) return text;
  return text.replaceAll('\u0000', '\uFFFD').replace(/\p{Surrogate}/gu, '\uFFFD');
}

/** Most texts have neither, and one test of them says so. */
// eslint-disable-next-line no-control-regex -- this character is what is looked for
const NUL_OR_SURROGATE = /[\u0000\ud800-\udfff]/;

export function columnTextOrNull(text: string | null): string | null {
  return text === null ? null : columnText(text);
}
