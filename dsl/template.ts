/**
 * Interpolation: `${{ matrix.axis }}` in one pass, `$${{` for the three characters themselves.
 * Owns reading and filling; must not know which fields have it. What is filled in is never read again.
 */

/** Where the text of a template comes from, in the order of the text. */
export type TemplatePart =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'axis'; readonly axis: string; readonly occurrence: number }
  | { readonly kind: 'id'; readonly occurrence: number };

/** `occurrence` counts every `${{` of the text from 0, escaped ones included, so that it can be found in the file. */
export interface TemplateProblem {
  readonly kind: 'unclosed' | 'expression';
  readonly expression: string;
  readonly occurrence: number;
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
  for (let occurrence = 0; problems.length < PROBLEMS_MAX; occurrence++) {
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
    const expression = text.slice(open + OPEN.length, close ?? undefined).trim();
    if (close === null) problems.push({ kind: 'unclosed', expression, occurrence });
    else pushExpression({ parts, problems }, expression, occurrence);
    at = close === null ? open + OPEN.length : close + CLOSE.length;
  }
  pushLiteral(parts, text.slice(at));
  return { parts, problems };
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

function pushExpression(
  into: { readonly parts: TemplatePart[]; readonly problems: TemplateProblem[] },
  expression: string,
  occurrence: number,
): void {
  const axis = /^matrix\.([A-Za-z][A-Za-z0-9_]*)$/.exec(expression)?.[1];
  if (axis !== undefined) into.parts.push({ kind: 'axis', axis, occurrence });
  else if (expression === 'id') into.parts.push({ kind: 'id', occurrence });
  else into.problems.push({ kind: 'expression', expression, occurrence });
}

/** Fills a template that has no problems. An axis without a value leaves nothing. */
export function fillTemplate(
  text: string,
  values: { readonly id: string; readonly matrix: Readonly<Record<string, string>> },
): string {
  if (!text.includes(OPEN)) return text;
  return parseTemplate(text)
    .parts.map((part) => {
      switch (part.kind) {
        case 'literal':
          return part.text;
        case 'axis':
          return values.matrix[part.axis] ?? '';
        case 'id':
          return values.id;
      }
    })
    .join('');
}
