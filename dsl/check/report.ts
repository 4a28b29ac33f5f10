/**
 * Collects what the passes find.
 * Owns order, duplicates and the cap; must not decide what is wrong.
 */
import type { Diagnostic } from './diagnostic.ts';
import type { Language } from '../language.ts';
import { RULE_CATALOGUE, type RuleCode } from './rule-catalogue.ts';
import { indexLines, type LineIndex, type Span } from '../read/text-position.ts';

/** More findings than this are one finding: no user reads the fifty-first. */
export const DIAGNOSTICS_MAX = 50;

export interface FindingExtra {
  readonly remedy?: string | null;
  readonly related?: readonly { readonly span: Span; readonly message: string }[];
}

/** The findings of one compilation, as its passes add them. */
export interface Report {
  /** Adds a finding; a second one of the same code at the same place is dropped, but for missing keys. */
  add(code: RuleCode, span: Span, message: string, extra?: FindingExtra): void;
  /** Findings of another report, or in a file that has no offsets here, behind those of the text. */
  adopt(diagnostics: readonly Diagnostic[]): void;
  /** Puts the text of another file behind this one; returns the offset at which it starts. */
  append(file: string, text: string): number;
  /** Texts by the paths of their files. */
  texts(): ReadonlyMap<string, string>;
  fileAt(offset: number): string;
  placeOf(span: Span): { readonly file: string; readonly line: number };
  hasErrors(): boolean;
  /** Sorted by position, at most DIAGNOSTICS_MAX. */
  diagnostics(): Diagnostic[];
  /** Of every file, in the order of their offsets. */
  readonly text: string;
  /** Of the first file. */
  readonly lines: LineIndex;
  /** Whose words the findings use. */
  readonly language: Language;
}

/** A key of a map, and where it stands. */
interface KeyAt {
  readonly key: string;
  readonly keySpan: Span;
}

/** A key that cannot stand beside another; it is shown where both are. */
export function addBeside(
  report: Report,
  code: RuleCode,
  [entry, other]: readonly [KeyAt, KeyAt],
  message: string,
  { remedy = 'keep one of the two', otherName = other.key } = {},
): void {
  const related = [{ span: other.keySpan, message: `"${otherName}" here` }];
  report.add(code, entry.keySpan, message, { remedy, related });
}

/** One of the texts whose offsets the report holds; they lie one behind the other. */
interface Source {
  readonly file: string;
  readonly start: number;
  readonly lines: LineIndex;
}

/** An empty report of a file; `language` names its keys. */
export function createReport(file: string, text: string, language: Language): Report {
  const found = new Map<string, Placed>();
  const lines = indexLines(text);
  const sources: Source[] = [{ file, start: 0, lines }];
  const sourceAt = (offset: number): Source =>
    sources.findLast(({ start }) => start <= offset) ?? { file, start: 0, lines };
  const texts = new Map([[file, text]]);
  let whole = text;
  return {
    get text() {
      return whole;
    },
    lines,
    language,
    add(code, span, message, extra = {}) {
      const key = `${code}@${span.start}${code === 'JOB202' ? message : ''}`;
      if (found.has(key)) return;
      const diagnostic = place(sourceAt, { code, span, message, extra });
      found.set(key, { start: span.start, diagnostic });
    },
    adopt(diagnostics) {
      for (const diagnostic of diagnostics) {
        const { code, line, column } = diagnostic;
        const key = `${code}@${diagnostic.file}:${line}:${column}`;
        if (!found.has(key)) found.set(key, { start: Number.MAX_SAFE_INTEGER, diagnostic });
      }
    },
    append(other, added) {
      const start = whole.length + 1;
      whole = `${whole}\n${added}`;
      texts.set(other, added);
      sources.push({ file: other, start, lines: indexLines(added) });
      return start;
    },
    texts: () => texts,
    fileAt: (offset) => sourceAt(offset).file,
    placeOf({ start }) {
      const source = sourceAt(start);
      return { file: source.file, line: source.lines.position(start - source.start).line };
    },
    hasErrors: () => [...found.values()].some(({ diagnostic }) => diagnostic.severity === 'error'),
    diagnostics: () => capped([...found.values()].sort(byPosition).map(({ diagnostic }) => diagnostic)),
  };
}

interface Finding {
  readonly code: RuleCode;
  readonly span: Span;
  readonly message: string;
  readonly extra: FindingExtra;
}

function place(sourceAt: (offset: number) => Source, { code, span, message, extra }: Finding): Diagnostic {
  const { file, start, lines } = sourceAt(span.start);
  const from = lines.position(span.start - start);
  const to = lines.position(Math.max(span.end, span.start) - start);
  const related = extra.related?.map((other) => {
    const source = sourceAt(other.span.start);
    const position = source.lines.position(other.span.start - source.start);
    return { message: other.message, ...position, ...(source.file === file ? {} : { file: source.file }) };
  });
  return {
    code,
    severity: RULE_CATALOGUE[code].severity,
    message,
    file,
    line: from.line,
    column: from.column,
    endLine: to.line,
    endColumn: to.column,
    remedy: extra.remedy ?? null,
    ...(related === undefined ? {} : { related }),
  };
}

type Placed = { readonly start: number; readonly diagnostic: Diagnostic };

function byPosition(a: Placed, b: Placed): number {
  if (a.start !== b.start) return a.start - b.start;
  const one = a.diagnostic;
  const other = b.diagnostic;
  return one.line - other.line || (one.code < other.code ? -1 : 1);
}

function capped(sorted: Diagnostic[]): Diagnostic[] {
  if (sorted.length <= DIAGNOSTICS_MAX) return sorted;
  const shown = sorted.slice(0, DIAGNOSTICS_MAX - 1);
  const hidden = sorted.slice(DIAGNOSTICS_MAX - 1);
  const first = hidden[0];
  if (first === undefined) return shown;
  const severity = hidden.some((diagnostic) => diagnostic.severity === 'error') ? 'error' : 'warning';
  const { related: _related, ...where } = first;
  const message = `${hidden.length} more findings are not shown`;
  return [
    ...shown,
    { ...where, code: 'JOB120', severity, message, remedy: 'correct the findings above and check again' },
  ];
}
