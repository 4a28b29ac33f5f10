// Texts of a script with gaps for the working directory, which only a request holds.
// It must not know where such a text stands, nor how the directory is found.

/** The pieces of a text around its gaps, in order; a text without a gap is one piece. */
export type GapText = readonly string[];

/** How a gap is written. */
export const gapMark = '{{working_dir}}';

/** How two braces are written that open no gap. */
export const braceMark = '{{{{';

/** The end of a placeholder is searched this far: enough to name it in a message, too little to quote a whole file. */
const placeholderCharsMax = 60;

const marks = new RegExp(`\\{\\{\\{\\{|\\{\\{[^{}]{0,${placeholderCharsMax}}\\}\\}|\\{\\{`, 'g');

/** Finds the gaps of a text as written; `unknown` has every other `{{`, up to its `}}` where that is near. */
export function readGaps(written: string): { readonly text: GapText; readonly unknown: readonly string[] } {
  const pieces: string[] = [];
  const unknown: string[] = [];
  let piece = '';
  let end = 0;
  for (const { 0: mark, index } of written.matchAll(marks)) {
    piece += written.slice(end, index);
    end = index + mark.length;
    if (mark === gapMark) {
      pieces.push(piece);
      piece = '';
    } else if (mark === braceMark) piece += '{{';
    else unknown.push(mark);
  }
  return { text: [...pieces, piece + written.slice(end)], unknown };
}

/** One text after the other. */
export function joinTexts(texts: readonly GapText[]): GapText {
  const pieces: string[] = [''];
  for (const [first = '', ...rest] of texts) {
    pieces.push((pieces.pop() ?? '') + first, ...rest);
  }
  return pieces;
}

/** The same text as it stands inside a JSON string, quotes included. */
export function quoteText(text: GapText): GapText {
  return joinTexts([['"'], text.map(inJson), ['"']]);
}

/** A value as it stands inside a JSON string, without quotes. */
export function inJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

export function hasGap(text: GapText): boolean {
  return text.length > 1;
}

/** The text with `value` in every gap. */
export function fillGaps(text: GapText, value: string): string {
  return text.join(value);
}
