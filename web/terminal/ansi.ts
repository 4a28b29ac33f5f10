/**
 * Terminal output as runs of text with their colours.
 * Owns the reading of what a terminal would obey: colours stay, a line that is written over shows its last form, everything else is left out.
 */

/** One of the sixteen colours by number, or an exact one as `#rrggbb`. */
export type Colour = number | string;

export interface Style {
  readonly colour: Colour | null;
  readonly ground: Colour | null;
  readonly isBold: boolean;
  readonly isFaint: boolean;
  readonly isItalic: boolean;
  readonly isUnderlined: boolean;
  readonly isInverse: boolean;
}

export interface Run {
  readonly text: string;
  readonly style: Style;
}

export const PLAIN: Style = {
  colour: null,
  ground: null,
  isBold: false,
  isFaint: false,
  isItalic: false,
  isUnderlined: false,
  isInverse: false,
};

/* A control sequence, a string for the terminal (titles, links), any other escape, or a control character. */
const CONTROL = new RegExp(
  [
    String.raw`\x1b\[([0-?]*)[ -/]*([@-~])`,
    String.raw`\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)`,
    String.raw`\x1b[ -/]*[0-~]?`,
    String.raw`[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]`,
  ].join('|'),
  'g',
);

export function runsOf(output: string): readonly Run[] {
  const text = lastForms(output.replaceAll('\r\n', '\n'));
  const runs: Run[] = [];
  let style = PLAIN;
  let at = 0;
  const push = (until: number): void => {
    const part = text.slice(at, until);
    const last = runs.at(-1);
    if (part === '') return;
    if (last?.style === style) runs[runs.length - 1] = { text: last.text + part, style };
    else runs.push({ text: part, style });
  };
  for (const found of text.matchAll(CONTROL)) {
    push(found.index);
    at = found.index + found[0].length;
    if (found[2] === 'm') style = styled(style, found[1] ?? '');
  }
  push(text.length);
  return runs;
}

/** The output as it reads without any colour. */
export function plainText(output: string): string {
  return lastForms(output.replaceAll('\r\n', '\n')).replaceAll(CONTROL, '');
}

/** A carriage return begins the line again: progress bars are lines that are written over many times. */
function lastForms(text: string): string {
  if (!text.includes('\r')) return text;
  return text
    .split('\n')
    .map((line) => {
      const kept = line.replace(/\r+$/, '');
      return kept.slice(kept.lastIndexOf('\r') + 1);
    })
    .join('\n');
}

function styled(before: Style, parameters: string): Style {
  const codes = parameters.split(/[;:]/).map(Number);
  let style = before;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      const { colour, used } = exactColour(codes, at + 1);
      style = code === 38 ? { ...style, colour } : { ...style, ground: colour };
      at += used;
    } else style = withCode(style, code);
  }
  return style;
}

function withCode(style: Style, code: number): Style {
  if (code >= 30 && code <= 37) return { ...style, colour: code - 30 };
  if (code >= 90 && code <= 97) return { ...style, colour: code - 90 + 8 };
  if (code >= 40 && code <= 47) return { ...style, ground: code - 40 };
  if (code >= 100 && code <= 107) return { ...style, ground: code - 100 + 8 };
  if (code === 0) return PLAIN;
  const change = CODES[code];
  return change === undefined ? style : { ...style, ...change };
}

const CODES: Readonly<Record<number, Partial<Style>>> = {
  1: { isBold: true },
  2: { isFaint: true },
  3: { isItalic: true },
  4: { isUnderlined: true },
  7: { isInverse: true },
  22: { isBold: false, isFaint: false },
  23: { isItalic: false },
  24: { isUnderlined: false },
  27: { isInverse: false },
  39: { colour: null },
  49: { ground: null },
};

const LEVELS = [0, 95, 135, 175, 215, 255] as const;

/** `5;N` is one of 256, `2;R;G;B` an exact one. */
function exactColour(
  codes: readonly number[],
  at: number,
): { readonly colour: Colour | null; readonly used: number } {
  const byte = (offset: number): number =>
    Math.min(255, Math.max(0, Math.trunc(codes[at + offset] ?? 0) || 0));
  if (codes[at] === 2) return { colour: hexOf([byte(1), byte(2), byte(3)]), used: 4 };
  if (codes[at] !== 5) return { colour: null, used: 0 };
  const number = byte(1);
  if (number < 16) return { colour: number, used: 2 };
  if (number >= 232) {
    const grey = 8 + (number - 232) * 10;
    return { colour: hexOf([grey, grey, grey]), used: 2 };
  }
  const cube = number - 16;
  const level = (part: number): number => LEVELS[part % 6] ?? 0;
  return { colour: hexOf([level(Math.floor(cube / 36)), level(Math.floor(cube / 6)), level(cube)]), used: 2 };
}

function hexOf(parts: readonly number[]): string {
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}
