/**
 * Removing secret values from texts that come in pieces (D20): a value that two pieces cut in two passes with neither.
 * Owns how much of each text may be said already. An Agent Server of ours does the same before; others need not.
 */
import { HIDDEN } from './redaction.ts';

/** Texts at once; of one that was not heard of for longest, no more is known. */
const TEXTS_MAX = 16;

interface Growing {
  /** What was not said yet, behind as much of what was as a value may reach back over. */
  readonly raw: string;
  readonly said: number;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

export class GrowingRedaction {
  #forms: readonly string[] = [];
  #longest = 0;
  readonly #texts = new Map<string, Growing>();

  /** As `hiddenForms` gives them. */
  hide(forms: readonly string[]): void {
    this.#forms = [...forms].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    this.#longest = forms.reduce((longest, { length }) => Math.max(longest, length), 0);
  }

  /** What may be said of the text of that name, now that it goes on with `piece`. */
  take(name: string, piece: string): string {
    const before = this.#texts.get(name) ?? { raw: '', said: 0 };
    const raw = before.raw + piece;
    const { text, end } = this.#settled(raw, before.said);
    const start = Math.max(0, end - this.#longest);
    this.#texts.delete(name);
    this.#texts.set(name, { raw: raw.slice(start), said: end - start });
    const [oldest] = this.#texts.keys();
    if (this.#texts.size > TEXTS_MAX && oldest !== undefined) this.#texts.delete(oldest);
    return text;
  }

  /** All of it but an end that may be the begin of a value. */
  #settled(raw: string, from: number): { readonly text: string; readonly end: number } {
    const ranges = this.#matchesIn(raw);
    let end = this.#openFrom(raw);
    for (const range of ranges) if (range.start < end && range.end > end) end = range.start;
    if (end <= from) return { text: '', end: from };
    let text = '';
    let at = from;
    for (const range of ranges) {
      if (range.end <= at || range.start >= end) continue;
      text += raw.slice(at, Math.max(at, range.start)) + HIDDEN;
      at = range.end;
    }
    return { text: text + raw.slice(at, end), end };
  }

  /** Occurrences that overlap are one, so that no rest of a value is left between two. */
  #matchesIn(raw: string): readonly Range[] {
    const found: Range[] = [];
    for (const form of this.#forms)
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
  #openFrom(raw: string): number {
    for (let at = Math.max(0, raw.length - this.#longest + 1); at < raw.length; at += 1)
      if (this.#isBegin(raw.slice(at))) return at;
    return raw.length;
  }

  #isBegin(text: string): boolean {
    let low = 0;
    let high = this.#forms.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#forms[middle] ?? '') <= text) low = middle + 1;
      else high = middle;
    }
    return this.#forms[low]?.startsWith(text) === true;
  }
}
