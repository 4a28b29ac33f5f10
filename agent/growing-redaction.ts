/**
 * Masking of a text that is not whole yet: a value that two pieces cut in two must leave with neither of them.
 * Owns how much of a text may be said already. Pure.
 */
import { MASK, type MaskedForms } from './redaction.ts';

interface SettledText {
  /** Masked. */
  readonly text: string;
  /** Where what was not said yet begins. */
  readonly end: number;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * What may be said of `raw` behind `from`: all of it but an end that may be the begin of a value. What stands before
 * `from` is looked at all the same, as far as the longest form: a value that reaches over it is masked, too.
 */
export function settledText(forms: MaskedForms, raw: string, from: number): SettledText {
  const ranges = matchesIn(forms, raw);
  let end = openFrom(forms, raw);
  for (const range of ranges) if (range.start < end && range.end > end) end = range.start;
  if (end <= from) return { text: '', end: from };
  let text = '';
  let at = from;
  for (const range of ranges) {
    if (range.end <= at || range.start >= end) continue;
    text += raw.slice(at, Math.max(at, range.start)) + MASK;
    at = range.end;
  }
  return { text: text + raw.slice(at, end), end };
}

/** Every occurrence of every form; those that overlap are one, so that no rest of a value is left between two. */
function matchesIn({ sorted }: MaskedForms, raw: string): readonly Range[] {
  const found: Range[] = [];
  for (const form of sorted)
    for (let at = raw.indexOf(form); at !== -1; at = raw.indexOf(form, at + 1))
      found.push({ start: at, end: at + form.length });
  const merged: Range[] = [];
  for (const range of found.sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1);
    if (last !== undefined && range.start < last.end)
      merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, range.end) };
    else merged.push(range);
  }
  return merged;
}

/** Where the longest end of `raw` begins that a form goes on from. */
function openFrom({ sorted, longest }: MaskedForms, raw: string): number {
  const firsts = new Set(sorted.map((form) => form.charCodeAt(0)));
  for (let at = Math.max(0, raw.length - longest + 1); at < raw.length; at += 1)
    if (firsts.has(raw.charCodeAt(at)) && isBegin(sorted, raw.slice(at))) return at;
  return raw.length;
}

/** Whether a form begins with `text` and is longer. */
function isBegin(sorted: readonly string[], text: string): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? '') <= text) low = middle + 1;
    else high = middle;
  }
  return sorted[low]?.startsWith(text) === true;
}
