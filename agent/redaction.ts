/**
 * Masking of secret values in everything that leaves: events, log lines, answers (D20).
 * Owns the forms in which a value is recognised: as it is, JSON-escaped, URL-encoded, base64 at every alignment, and
 * each line of one that has several.
 */
import { MASKED_LINE_CHARS_MIN, MASKED_LINES_MAX, MASKED_VALUE_CHARS_MIN } from './limits.ts';

export const MASK = '<secret-hidden>';

/** Line lengths at which encoders break base64: `base64` at 76, PEM at 64. */
const BASE64_LINE_CHARS = [76, 64];
/** Longer forms are searched as plain strings: an engine refuses a pattern made of many of them. */
const PATTERN_FORM_CHARS_MAX = 4_096;

/** Everything that is masked, in order of code units: what begins like one of them is found by halving. */
export interface MaskedForms {
  readonly sorted: readonly string[];
  /** Code units of the longest. */
  readonly longest: number;
}

export interface Redactor {
  readonly forms: MaskedForms;
  text(text: string): string;
  /** The same value with every string in it masked, except those under one of the keys in `kept`. */
  deep<T>(value: T, kept?: ReadonlySet<string>): T;
}

/** A redactor for these values; values shorter than four characters are left alone. */
export function makeRedactor(values: Iterable<string>): Redactor {
  const forms = new Set<string>();
  for (const value of values) {
    if (value.length >= MASKED_VALUE_CHARS_MIN) for (const form of formsOf(value)) forms.add(form);
    for (const line of linesOf(value)) forms.add(line).add(JSON.stringify(line).slice(1, -1));
  }
  const known = { sorted: [...forms].sort(byCodeUnits), longest: longestOf(forms) };
  if (forms.size === 0) return { forms: known, text: (text) => text, deep: (value) => value };
  // Longest first, so that the whole of a value is masked before a form that is a part of it.
  const ordered = [...forms].sort((a, b) => b.length - a.length);
  const long = ordered.filter((form) => form.length > PATTERN_FORM_CHARS_MAX);
  const short = ordered.slice(long.length).map(escapePattern);
  const pattern = short.length > 0 ? new RegExp(short.join('|'), 'g') : null;
  const text = (input: string): string => {
    const shortened = long.reduce((rest, form) => rest.replaceAll(form, MASK), input);
    return pattern === null ? shortened : shortened.replace(pattern, MASK);
  };
  return { forms: known, text, deep: (value, kept) => maskDeep(value, text, kept) as typeof value };
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function longestOf(forms: Iterable<string>): number {
  let longest = 0;
  for (const { length } of forms) longest = Math.max(longest, length);
  return longest;
}

/** The armour of a key says nothing of it. */
const ARMOUR = /^-----(?:BEGIN|END) [A-Z0-9 ]+-----$/;

/** Lines of a value that has several: programs print them indented, one at a time, or those that were asked for. */
function linesOf(value: string): string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  if (lines.filter((line) => line !== '').length < 2) return [];
  return lines
    .filter((line) => line.length >= MASKED_LINE_CHARS_MIN && !ARMOUR.test(line))
    .slice(0, MASKED_LINES_MAX);
}

function formsOf(value: string): string[] {
  const url = encodeURIComponent(wellFormed(value));
  const trimmed = value.trim();
  return [
    value,
    ...(trimmed.length >= MASKED_VALUE_CHARS_MIN ? [trimmed] : []),
    JSON.stringify(value).slice(1, -1),
    url,
    url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    url.replaceAll('%20', '+'),
    new URLSearchParams([['', value]]).toString().slice(1),
    ...base64Forms(value),
  ];
}

/** A lone surrogate cannot be URL-encoded; what a shell would print for it is the replacement character. */
function wellFormed(value: string): string {
  return Buffer.from(value, 'utf8').toString('utf8');
}

function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value, 'utf8');
  const whole = bytes.toString('base64');
  const forms = [whole, whole.replace(/=+$/, '')];
  // Inside a longer encoded text the value may start at any of three alignments; these digits depend on it alone.
  for (const lead of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(lead), bytes]).toString('base64');
    const inner = encoded.slice(Math.ceil((lead * 8) / 6), Math.floor(((lead + bytes.length) * 8) / 6));
    if (inner.length >= MASKED_VALUE_CHARS_MIN) forms.push(inner);
  }
  return [
    ...forms.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]),
    ...wrappedForms(whole),
    ...wrappedForms(Buffer.from(`${value}\n`, 'utf8').toString('base64')),
  ];
}

/** The text broken into lines as encoders do, as it is and as it stands inside JSON. */
function wrappedForms(encoded: string): string[] {
  return BASE64_LINE_CHARS.filter((width) => encoded.length > width).flatMap((width) => {
    const lines = encoded.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
    return [lines.join('\n'), lines.join('\r\n'), lines.join('\\n')];
  });
}

function escapePattern(form: string): string {
  return form.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

function maskDeep(value: unknown, text: (input: string) => string, kept?: ReadonlySet<string>): unknown {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return value.map((item) => maskDeep(item, text, kept));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, item]) =>
    kept?.has(key) === true && typeof item === 'string' ? [key, item] : [key, maskDeep(item, text, kept)],
  );
  return Object.fromEntries(entries);
}
