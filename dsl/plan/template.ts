/**
 * Interpolation: `${{ expression }}` in one pass, `$${{` for the three characters themselves.
 * Owns where expressions stand in a text; must not know which fields have them, or what they give.
 */

/** Where the text of a template comes from, in the order of the text. */
type TemplatePart =
  { readonly kind: 'literal'; readonly text: string } | ({ readonly kind: 'expression' } & Interpolated);

/** `start` and `end` are offsets of the expression in the text, in UTF-16 units. */
export interface Interpolated {
  readonly source: string;
  readonly start: number;
  readonly end: number;
}

/** An interpolation that is not closed, or holds nothing; offsets as above. */
export interface TemplateProblem extends Interpolated {
  readonly kind: 'unclosed' | 'empty';
}

export interface Template {
  readonly parts: readonly TemplatePart[];
  readonly problems: readonly TemplateProblem[];
}

const OPEN = '${{';
const CLOSE = '}}';
/** A text with more problems is read no further: every one searches for its closing braces. */
const PROBLEMS_MAX = 20;

export function parseTemplate(text: string): Template {
  const parts: TemplatePart[] = [];
  const problems: TemplateProblem[] = [];
  let at = 0;
  while (problems.length < PROBLEMS_MAX) {
    const open = text.indexOf(OPEN, at);
    if (open === -1) break;
    const escaped = open > at && text[open - 1] === '$';
    pushLiteral(parts, text.slice(at, escaped ? open - 1 : open));
    if (escaped) {
      pushLiteral(parts, OPEN);
      at = open + OPEN.length;
      continue;
    }
    const close = closeOf(text, open);
    const found = interpolatedAt(text, open + OPEN.length, close);
    if (close === null) problems.push({ kind: 'unclosed', ...found, start: open, end: open + OPEN.length });
    else if (found.source === '')
      problems.push({ kind: 'empty', ...found, start: open, end: close + CLOSE.length });
    else parts.push({ kind: 'expression', ...found });
    at = close === null ? open + OPEN.length : close + CLOSE.length;
  }
  pushLiteral(parts, text.slice(at));
  return { parts, problems };
}

function interpolatedAt(text: string, from: number, close: number | null): Interpolated {
  const inside = text.slice(from, close ?? undefined);
  const source = inside.trim();
  const start = from + inside.length - inside.trimStart().length;
  return { source, start, end: start + source.length };
}

/** The closing braces, unless another interpolation opens before them. */
function closeOf(text: string, open: number): number | null {
  const close = text.indexOf(CLOSE, open + OPEN.length);
  const next = text.indexOf(OPEN, open + OPEN.length);
  return close === -1 || (next !== -1 && next < close) ? null : close;
}

function pushLiteral(parts: TemplatePart[], text: string): void {
  if (text !== '') parts.push({ kind: 'literal', text });
}

/** The expressions of a text. */
export function expressionsIn(text: string): Interpolated[] {
  if (!text.includes(OPEN)) return [];
  return parseTemplate(text).parts.flatMap((part) => (part.kind === 'expression' ? [part] : []));
}
