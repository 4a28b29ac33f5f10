/**
 * Values as they travel, with every text in them cut to a bound.
 * Owns the walk; how a text is cut is decided in core/text/shorten.ts. Apart from it, because workflows cut single texts only.
 */
import { MARK, shortened, utf8Bytes } from './shorten.ts';

const CHARACTER_BYTES_MAX = 4;

/** Whether a text may be what `shortened` made of a longer one: no cut leaves room for the longest character. */
export function isShortened(text: string, bytesMax: number): boolean {
  return text.endsWith(MARK) && utf8Bytes(text) > bytesMax - CHARACTER_BYTES_MAX;
}

/**
 * The same value with every text in it cut to so many bytes; the very same object when nothing is longer. Names of
 * fields stay: they are ours, or have bounds of their own.
 */
export function withShortTexts<Value>(value: Value, bytesMax: number): Value {
  return walked(value, bytesMax) as Value;
}

function walked(value: unknown, bytesMax: number): unknown {
  if (typeof value === 'string') return shortened(value, bytesMax);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const short = value.map((one: unknown) => walked(one, bytesMax));
    return short.every((one, index) => one === value[index]) ? value : short;
  }
  const entries = Object.entries(value);
  const short = entries.map(([name, one]) => [name, walked(one, bytesMax)] as const);
  return short.every(([, one], index) => one === entries[index]?.[1]) ? value : Object.fromEntries(short);
}
